//! `implementation = …`.

use super::arguments::more;

#[track_caller]
fn of(written: &str, expected: &[(&str, &str)]) {
    more(&format!("implementation = {written}"), expected);
}

const EXAMPLE: &str = "http(\"https://skills.example.com/merge\", audience = \"skills\")";

#[test]
fn knows_three_protocols() {
    of(
        "\"local\"",
        &[(
            "\"local\"",
            &format!(
                "`implementation` must be `local(…)`, `http(…)` or `mcp(…)`; write `implementation = {EXAMPLE}`"
            ),
        )],
    );
    of(
        "htpp(\"https://x\")",
        &[(
            "htpp",
            "unknown protocol `htpp`; did you mean `http`? (one of: local, http, mcp)",
        )],
    );
    of(
        "grpc(\"x\")",
        &[(
            "grpc",
            "unknown protocol `grpc`; expected one of: local, http, mcp",
        )],
    );
    of(
        "http",
        &[(
            "http",
            &format!("`http` needs an endpoint; write `implementation = {EXAMPLE}`"),
        )],
    );
    of(
        "mcp()",
        &[(
            "mcp",
            "`mcp` needs an endpoint; write `implementation = mcp(\"stdio:acme\")`",
        )],
    );
}

#[test]
fn checks_http() {
    let scheme =
        "the endpoint of an http skill starts with `https://`, `http://` or a `${VARIABLE}` that holds one";
    for endpoint in ["ftp://x", "x", "HTTPS://x", "x${BASE}"] {
        of(
            &format!("http(\"{endpoint}\")"),
            &[(&format!("\"{endpoint}\""), scheme)],
        );
    }
    of("http(\"\")", &[("\"\"", "the endpoint is empty")]);
    of(
        "http(\"${A\")",
        &[("\"${A\"", "the endpoint has a `${` without its `}`")],
    );
    of("http(5)", &[("5", "`endpoint` must be a string")]);
    of(
        "http(\"https://x\", \"https://y\")",
        &[("\"https://y\"", "`endpoint` is given twice")],
    );
    of(
        "http(\"https://x\", tool = \"t\")",
        &[(
            "tool",
            "unknown part `tool` of `http`; expected one of: audience, scopes",
        )],
    );
    of(
        "http(\"https://x\", audiense = \"t\")",
        &[(
            "audiense",
            "unknown part `audiense` of `http`; did you mean `audience`?",
        )],
    );
    of(
        "http(\"https://x\", audience = \"\")",
        &[("\"\"", "the audience is empty")],
    );
}

#[test]
fn checks_scopes() {
    of(
        "http(\"https://x\", scopes = [\"a\"])",
        &[(
            "http",
            "`scopes` are asked for from an audience; add `audience = \"…\"`",
        )],
    );
    of(
        "http(\"https://x\", audience = \"a\", scopes = \"a b\")",
        &[(
            "\"a b\"",
            "`scopes` must be a list of strings; write `scopes = [\"reports:read\"]`",
        )],
    );
    of(
        "http(\"https://x\", audience = \"a\", scopes = [\"a b\"])",
        &[("\"a b\"", "a scope has 1 to 200 of `A-Z a-z 0-9 _ . : * / -`")],
    );
    let secret = "\"ghp_aaaaaaaaaaaaaaaaaaaaaaaa\"";
    of(
        &format!("http(\"https://x\", audience = \"a\", scopes = [{secret}])"),
        &[(
            secret,
            "this looks like a secret, and a contract is published: keep it in the host's secrets",
        )],
    );
    let many = vec!["\"a\""; 21].join(", ");
    of(
        &format!("http(\"https://x\", audience = \"a\", scopes = [{many}])"),
        &[(&format!("[{many}]"), "at most 20 scopes are allowed, not 21")],
    );
}

#[test]
fn checks_mcp_and_local() {
    of(
        "mcp(\"zzz\")",
        &[("\"zzz\"", "the endpoint of an mcp skill is a URL or `stdio:NAME`")],
    );
    of(
        "mcp(\"stdio:\")",
        &[(
            "\"stdio:\"",
            "`stdio:` is followed by the name of the server, such as `stdio:acme`",
        )],
    );
    of(
        "mcp(\"stdio:a\", tool = \"-a\")",
        &[(
            "\"-a\"",
            "the name of an MCP tool has 1 to 200 of `A-Z a-z 0-9 _ . - /` and starts with a letter, digit or `_`",
        )],
    );
    let entrypoint =
        "the entrypoint of a local skill is `module.path:function`, such as `acme_skills.reports:build`";
    for bad in ["x", "a::b", "a.:b", "a:b.c", "1:a"] {
        of(
            &format!("local(\"{bad}\")"),
            &[(&format!("\"{bad}\""), entrypoint)],
        );
    }
    of(
        "local(audience = \"a\")",
        &[(
            "audience",
            "unknown part `audience` of `local`; it takes an entrypoint and nothing else",
        )],
    );
}
