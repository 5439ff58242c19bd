//! The arguments of `#[skill(…)]`.

use super::{ATTRIBUTE, FUNCTION, GOOD, accepted, refused};

const ALL: &str = "version, side_effects, risk, idempotency, timeout, retry, description, permissions, preconditions, \
                   postconditions, cost_model, implementation, inputs_schema, outputs_schema, title, tags, secrets, config, \
                   allowed_hosts, examples, deprecated, crate";

/// One more argument beside good ones.
#[track_caller]
pub(super) fn more(argument: &str, expected: &[(&str, &str)]) {
    refused(&format!("{GOOD}, {argument}"), FUNCTION, expected);
}

#[test]
fn takes_every_argument() {
    for argument in [
        "",
        "idempotency = natural",
        "timeout = 3600",
        "timeout = 1_000,",
        "retry = (10, 3600)",
        "retry = (1, 0)",
        "description = \"text\"",
        "description = include_str!(\"about.md\")",
        "description = crate::ABOUT",
        "permissions = [\"tasks.read\", \"admin\", \"a_b.c.d\"]",
        "permissions = []",
        "preconditions = [json!({}), \"text\", 5]",
        "postconditions = []",
        "cost_model = (unit = \"page\")",
        "cost_model = (unit = \"page\",)",
        "cost_model = (unit = \"page\", estimate = 0)",
        "implementation = local",
        "implementation = local()",
        "implementation = local(\"acme.reports:build\")",
        "implementation = http(\"https://x/y\")",
        "implementation = http(\"http://x/y\", audience = \"a\", scopes = [\"a:b\", \"a:b\"])",
        "implementation = http(\"${BASE}/y\")",
        "implementation = mcp(\"stdio:acme\")",
        "implementation = mcp(\"${URL}\", tool = \"a/b\")",
        "implementation = mcp(\"https://x/mcp\", tool = \"t\", audience = \"a\")",
        "inputs_schema = \"a.json\"",
        "outputs_schema = schemas::merge::<A, B>()",
        "examples = json!([])",
        "title = \"t\", tags = [\"a\"], secrets = [\"helpdesk-token\"], config = [\"URL\"], deprecated = \"x\"",
        "allowed_hosts = [\"api.example.com:443\", \"localhost\", \"[::1]:80\", \"${HOST}:${PORT}\"]",
        "crate = ::my_sdk",
        "crate = crate::sdk",
        "crate = sdk",
    ] {
        accepted(&format!("{GOOD}, {argument}"), FUNCTION);
    }
    for words in [
        "risk = medium, side_effects = external_read",
        "risk = \"high\", side_effects = \"none\"",
    ] {
        accepted(&format!("\"кот.go-1\", version = \"2026.1\", {words}"), FUNCTION);
    }
    for repeatable in [
        "idempotency = natural, retry = (3, 30)",
        "idempotency = required, retry = (2, 0)",
        "retry = (1, 5)",
    ] {
        accepted(
            &format!("\"a\", version = \"1\", side_effects = external_write, risk = low, {repeatable}"),
            FUNCTION,
        );
    }
}

#[test]
fn names_what_is_missing_and_shows_the_smallest_attribute() {
    let smallest = "the smallest valid attribute is `#[skill(\"git.merge\", version = \"1\", side_effects = \"none\", risk = \"low\")]`";
    for (attribute, lacks) in [
        ("", "a name, `version`, `side_effects`, `risk`"),
        ("\"git.merge\"", "`version`, `side_effects`, `risk`"),
        ("\"git.merge\", risk = low", "`version`, `side_effects`"),
        ("version = \"1\", risk = low, side_effects = none", "a name"),
    ] {
        refused(
            attribute,
            FUNCTION,
            &[(ATTRIBUTE, &format!("`#[skill]` lacks {lacks}; {smallest}"))],
        );
    }
    let own = smallest.replace("git.merge", "a.b");
    refused(
        "\"a.b\", version = \"1\", risk = low",
        FUNCTION,
        &[(ATTRIBUTE, &format!("`#[skill]` lacks `side_effects`; {own}"))],
    );
}

#[test]
fn reports_several_mistakes_at_once() {
    refused(
        "\"a b\", verison = \"1\", side_effects = extrnal_read, risc = low, timeout = 0, timeout = 5, zzz = 1, retry = 2",
        "async fn merge(self, a: &str) {}",
        &[
            (
                "\"a b\"",
                "the name of a skill holds ' '; it may hold anything but `@`, `/` and white space",
            ),
            (
                "verison",
                "unknown argument `verison` in `#[skill]`; did you mean `version`?",
            ),
            (
                "extrnal_read",
                "unknown side effects `extrnal_read`; did you mean `external_read`? (one of: none, external_read, \
                 external_write)",
            ),
            (
                "risc",
                "unknown argument `risc` in `#[skill]`; did you mean `risk`?",
            ),
            (
                "0",
                "`timeout` must be a whole number of seconds from 1 to 3600, not 0",
            ),
            ("timeout", "`timeout` is given twice"),
            (
                "zzz",
                &format!("unknown argument `zzz` in `#[skill]`; expected one of: {ALL}"),
            ),
            (
                "2",
                "`retry` must be a pair of attempts and seconds between them; write `retry = (2, 0)`",
            ),
            (
                "self",
                "a skill cannot be a method: a host has no `self` to call it on; make it a function outside of `impl`",
            ),
            (
                "&",
                "an input cannot be borrowed: it is parsed for this call; use `String`",
            ),
        ],
    );
}

#[test]
fn explains_the_grammar() {
    let rest = "version = \"1\", side_effects = none, risk = low";
    let name = |attribute: &str, expected: &[(&str, &str)]| refused(attribute, FUNCTION, expected);
    name(
        &format!("name = \"a\", {rest}"),
        &[(
            "name",
            "the name must come first, without a key: `#[skill(\"git.merge\", …)]`",
        )],
    );
    name(
        &format!("{rest}, \"a\""),
        &[(
            "\"a\"",
            "the name of the skill must come first, before all `key = value`",
        )],
    );
    name(
        &format!("\"a\", \"b\", {rest}"),
        &[(
            "\"b\"",
            "the skill has a name already; write other arguments as `key = value`",
        )],
    );
    for word in ["git", "git.merge", "git::merge"] {
        let message = "the name of a skill must be a string: write it in quotes, such as `\"git.merge\"`";
        name(&format!("{word}, {rest}"), &[("git", message)]);
    }
    name(
        &format!("5, {rest}"),
        &[(
            "5",
            "the name of a skill must be a string, such as `\"git.merge\"`",
        )],
    );
    name(
        &format!("\"a\",, {rest}"),
        &[(",", "an argument is missing before this `,`")],
    );
    name(
        &format!("\"a\", =, {rest}"),
        &[("=", "expected the name of the skill or `key = value`")],
    );
    more(
        "timeout",
        &[("timeout", "`timeout` needs a value: write `timeout = 60`")],
    );
    more(
        "timeout =",
        &[("timeout", "`timeout` needs a value: write `timeout = 60`")],
    );
    more("timeout(5)", &[("(", "expected `=`: write `timeout = 60`")]);
    more("timeout: 5", &[(":", "expected `=`: write `timeout = 60`")]);
    more(
        "timeout = ;",
        &[(";", "this is not a value: write `timeout = 60`")],
    );
    more(
        "timeout = 5 title = \"x\"",
        &[("title", "expected `,` before the next argument")],
    );
    more(
        "timeout = 5; title = \"x\"",
        &[(";", "expected `,` before the next argument")],
    );
    more(
        "effects = none, risk_level = low, retries = 1",
        &[
            (
                "effects",
                "unknown argument `effects` in `#[skill]`; did you mean `side_effects`?",
            ),
            (
                "risk_level",
                "unknown argument `risk_level` in `#[skill]`; did you mean `risk`?",
            ),
            (
                "retries",
                "unknown argument `retries` in `#[skill]`; did you mean `retry`?",
            ),
        ],
    );
}

#[test]
fn checks_names_and_versions() {
    let long = "x".repeat(201);
    let rest = "side_effects = none, risk = low";
    for (name, problem) in [
        ("", "is empty"),
        (
            "a@1",
            "holds '@'; it may hold anything but `@`, `/` and white space",
        ),
        (
            "a/b",
            "holds '/'; it may hold anything but `@`, `/` and white space",
        ),
        (
            "a b",
            "holds ' '; it may hold anything but `@`, `/` and white space",
        ),
        (long.as_str(), "has 201 characters; at most 200 are allowed"),
    ] {
        let quoted = format!("\"{name}\"");
        let message = format!("the name of a skill {problem}");
        refused(
            &format!("{quoted}, version = \"1\", {rest}"),
            FUNCTION,
            &[(&quoted, &message)],
        );
    }
    let version = |written: &str, place: &str, message: &str| {
        refused(
            &format!("\"a\", version = {written}, {rest}"),
            FUNCTION,
            &[(place, message)],
        );
    };
    version("2", "2", "`version` must be a string; write `version = \"2\"`");
    version(
        "2.0",
        "2.0",
        "`version` must be a string; write `version = \"2.0\"`",
    );
    version("v2", "v2", "`version` must be a string; write `version = \"v2\"`");
    version("-1", "-", "`version` must be a string; write `version = \"1\"`");
    version("\"\"", "\"\"", "the version of a skill is empty");
    version(
        "\"1@2\"",
        "\"1@2\"",
        "the version of a skill holds '@'; it may hold anything but `@`, `/` and white space",
    );
    let long = format!("\"{}\"", &long[..51]);
    version(
        &long,
        &long,
        "the version of a skill has 51 characters; at most 50 are allowed",
    );
}
