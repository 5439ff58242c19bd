//! The values of `key = value`.

use super::arguments::more;
use super::{FUNCTION, refused};

#[test]
fn checks_words() {
    let risk = |written: &str, place: &str, message: &str| {
        refused(
            &format!("\"a\", version = \"1\", side_effects = none, risk = {written}"),
            FUNCTION,
            &[(place, message)],
        );
    };
    risk(
        "hihg",
        "hihg",
        "unknown risk `hihg`; did you mean `high`? (one of: low, medium, high)",
    );
    risk(
        "\"High\"",
        "\"High\"",
        "unknown risk `High`; did you mean `high`? (one of: low, medium, high)",
    );
    risk(
        "\"enormous\"",
        "\"enormous\"",
        "unknown risk `enormous`; expected one of: low, medium, high",
    );
    risk(
        "5",
        "5",
        "`risk` must be one of: low, medium, high; write `risk = \"low\"`",
    );
    risk(
        "Risk::Low",
        "Risk",
        "`risk` must be one of: low, medium, high; write `risk = \"low\"`",
    );
    more(
        "idempotency = natrual",
        &[(
            "natrual",
            "unknown idempotency `natrual`; did you mean `natural`? (one of: required, natural, none)",
        )],
    );
}

#[test]
fn checks_numbers() {
    let timeout = "`timeout` must be a whole number of seconds from 1 to 3600";
    for (written, place, rest) in [
        ("0", "0", ", not 0"),
        ("3601", "3601", ", not 3601"),
        ("99999999999", "99999999999", ", not 99999999999"),
        ("5.5", "5.5", "; write `timeout = 60`"),
        ("\"60\"", "\"60\"", "; write `timeout = 60`"),
        ("true", "true", "; write `timeout = 60`"),
        ("-1", "-", "; write `timeout = 60`"),
        ("30s", "30s", ", without `s`; write `timeout = 30`"),
    ] {
        more(
            &format!("timeout = {written}"),
            &[(place, &format!("{timeout}{rest}"))],
        );
    }
    let pair = "`retry` must be a pair of attempts and seconds between them";
    more("retry = 3", &[("3", &format!("{pair}; write `retry = (3, 0)`"))]);
    more(
        "retry = (1, 2, 3)",
        &[("(1, 2, 3)", &format!("{pair}; write `retry = (3, 30)`"))],
    );
    more(
        "retry = (0, 3601)",
        &[
            (
                "0",
                "`retry` must have a whole number of attempts from 1 to 10, not 0",
            ),
            (
                "3601",
                "`retry` must have a whole number of seconds of backoff from 0 to 3600, not 3601",
            ),
        ],
    );
    more(
        "retry = (11, 0)",
        &[(
            "11",
            "`retry` must have a whole number of attempts from 1 to 10, not 11",
        )],
    );
}

#[test]
fn refuses_to_repeat_external_writes() {
    let message = "an `external_write` skill without `idempotency` may not be retried: a retry would be a second external \
                   effect; set `idempotency` to `natural` or `required`, or the attempts to 1";
    for idempotency in ["", "idempotency = none, "] {
        let attribute = format!(
            "\"a\", version = \"1\", risk = low, side_effects = external_write, {idempotency}retry = (2, 0)"
        );
        refused(&attribute, FUNCTION, &[("2", message)]);
    }
}

#[test]
fn checks_lists_and_texts() {
    more(
        "permissions = \"tasks.read\"",
        &[(
            "\"tasks.read\"",
            "`permissions` must be a list of strings; write `permissions = [\"tasks.read\"]`",
        )],
    );
    for bad in ["tasks", "Tasks.read", "tasks.", "tasks-a.read", "tasks.read1", ""] {
        let message = format!(
            "`{bad}` is not a permission; permissions are lower case words joined by dots, such as `tasks.read`"
        );
        more(
            &format!("permissions = [\"{bad}\"]"),
            &[(&format!("\"{bad}\""), &message)],
        );
    }
    more(
        "tags = [5, \" \"]",
        &[
            ("5", "`tags` must contain only strings; write `tags = [\"git\"]`"),
            ("\" \"", "the tag is empty"),
        ],
    );
    more(
        "secrets = [\"a/b\", \"agent-pat\", \"\"]",
        &[
            (
                "\"a/b\"",
                "`a/b` cannot name a secret; `/`, `\\`, `..` and NUL would leave the secrets directory",
            ),
            (
                "\"agent-pat\"",
                "`agent-pat` is the host's own secret; no skill may read it",
            ),
            ("\"\"", "the name of a secret is empty"),
        ],
    );
    more(
        "config = [\"A=B\"]",
        &[(
            "\"A=B\"",
            "the name of a parameter holds '='; it is an environment variable, such as `HELPDESK_URL`",
        )],
    );
    more(
        "allowed_hosts = [\"https://x\", \"x:0\", \"x:99999\"]",
        &[
            (
                "\"https://x\"",
                "`https://x` is not a host; write `host` or `host:port`, such as `api.example.com:443`",
            ),
            ("\"x:0\"", "`0` is not a port; a port must be 1 to 65535"),
            ("\"x:99999\"", "`99999` is not a port; a port must be 1 to 65535"),
        ],
    );
    more(
        "title = 5",
        &[("5", "`title` must be a string; write `title = \"5\"`")],
    );
    more("description = \" \"", &[("\" \"", "the description is empty")]);
    more(
        "description = about()",
        &[(
            "about",
            "`description` must be known at compile time: a string, a constant or `include_str!(…)`; write \
             `description = \"Merge a branch.\"`",
        )],
    );
    more(
        "preconditions = \"x\"",
        &[(
            "\"x\"",
            "`preconditions` must be a list of JSON values; write `preconditions = [\"branch exists\"]`",
        )],
    );
    more(
        "crate = \"my::sdk\"",
        &[(
            "\"my::sdk\"",
            "`crate` must be a path without quotes; write `crate = my::sdk`",
        )],
    );
    more(
        "crate = 5",
        &[(
            "5",
            "`crate` must be a path without quotes; write `crate = ::my_sdk`",
        )],
    );
}

#[test]
fn checks_schemas() {
    let schema =
        "write `inputs_schema = \"schemas/inputs.json\"` or an expression such as `serde_json::json!({})`";
    more(
        "inputs_schema = \"a.yaml\"",
        &[(
            "\"a.yaml\"",
            &format!("a string must be the path of a `.json` file next to `Cargo.toml`; {schema}"),
        )],
    );
    more(
        "inputs_schema = true",
        &[("true", &format!("a plain literal is not enough; {schema}"))],
    );
}

#[test]
fn checks_cost_models() {
    let write = "write `cost_model = (unit = \"page\", estimate = 0.5)`";
    more(
        "cost_model = \"page\"",
        &[(
            "\"page\"",
            &format!("`cost_model` must have a unit and may have an estimate; {write}"),
        )],
    );
    more(
        "cost_model = (estimate = 1)",
        &[(
            "(estimate = 1)",
            &format!("`cost_model` must have a unit; {write}"),
        )],
    );
    more(
        "cost_model = ()",
        &[("()", &format!("`cost_model` must have a unit; {write}"))],
    );
    more(
        "cost_model = (unit = \"\", estimate = -1)",
        &[
            ("\"\"", "the unit is empty"),
            ("-", "the estimate must not be negative"),
        ],
    );
    more(
        "cost_model = (unit = 5, estimate = true, price = 1, \"x\")",
        &[
            ("5", "the unit must be a string, such as `\"page\"`"),
            (
                "true",
                "the estimate must be a number of at least 0, such as `0.5`",
            ),
            (
                "price",
                "unknown part `price` of `cost_model`; expected one of: unit, estimate",
            ),
            (
                "\"x\"",
                &format!("expected `unit = …` or `estimate = …`; {write}"),
            ),
        ],
    );
    more(
        "cost_model = (\"page\", 0.5)",
        &[(
            "\"page\"",
            &format!("expected `unit = …` or `estimate = …`; {write}"),
        )],
    );
    more(
        "cost_model = (unti = \"page\", estimate = 1, estimate = 2)",
        &[
            (
                "unti",
                "unknown part `unti` of `cost_model`; did you mean `unit`?",
            ),
            ("estimate", "`estimate` is given twice"),
        ],
    );
    more(
        "cost_model = (unit = \"a\", estimate = 1e999)",
        &[("1e999", "the estimate is too large for a JSON number")],
    );
}
