//! Flags and environment variables.

use serde_json::{Value, json};
use skill_sdk_tests::program::run;
use skill_sdk_tests::raw_http::Client;
use tokio::task::spawn_blocking;

use super::{BINARY, HEAR, rejection, serve};

fn request_body(text: &str) -> String {
    json!({"invocationId": "i-1", "inputs": {"text": text, "ending": "refused"}}).to_string()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flag_overrides_a_variable() {
    let variable = [("SKILL_SDK_BODY_LIMIT", "100"), ("TEST_SECRET", "s")];
    for (flags, status) in [(&[][..], 413), (&["--body-limit", "1000"], 422)] {
        let program = serve(flags, &variable);
        let answer = Client::connect(program.address)
            .await
            .post(HEAR, &request_body(&"a".repeat(100)))
            .await;
        assert_eq!(answer.status, status, "{flags:?} {answer:?}");
    }
}

#[test]
fn invalid_settings_are_rejected_at_startup() {
    for protocol in ["http", "mcp-http"] {
        let plain = ["serve", protocol, "--allow-anonymous"];
        for (flag, value) in [
            ("--concurrency", "0"),
            ("--head-limit", "1"),
            ("--skill-concurrency", "no.such.skill=1"),
            ("--skill-concurrency", "process.hear@1=1"),
            ("--log-format", "yaml"),
        ] {
            let ended = run(BINARY, &[&plain[..], &[flag, value]].concat(), &[]);
            assert_eq!(ended.status.code(), Some(2), "{protocol} {flag} {ended:?}");
            assert!(ended.stderr.contains(flag), "{protocol} {flag} {ended:?}");
        }
        for (name, value) in [
            ("SKILL_SDK_CONNECTIONS", "many"),
            ("SKILL_SDK_IDLE_SECONDS", "0"),
            ("SKILL_SDK_SKILL_CONCURRENCY", "a="),
            ("SKILL_SDK_SKILL_CONCURRENCY", "no.such.skill=1"),
            ("SKILL_SDK_LOG_FORMAT", "xml"),
        ] {
            let ended = run(BINARY, &plain, &[(name, value)]);
            assert_eq!(ended.status.code(), Some(2), "{protocol} {name} {ended:?}");
        }
    }
}

#[test]
fn an_address_that_is_taken_is_named() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let (address, port) = (
        taken.local_addr().unwrap().to_string(),
        taken.local_addr().unwrap().port(),
    );
    let plain = ["serve", "http", "--allow-anonymous"];
    let port = port.to_string();
    for flags in [&["--port", &port][..], &["--port", "0", "--ops-addr", &address]] {
        let ended = run(BINARY, &[&plain[..], flags].concat(), &[]);
        assert!(!ended.status.success(), "{ended:?}");
        let expected = format!("cannot listen on {address}: ");
        assert!(ended.stderr.contains(&expected), "{ended:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_log_is_json_by_default() {
    for (flags, is_json) in [
        (&[][..], true),
        (&["--log-format", "text"], false),
        (&["--log-format", "json"], true),
    ] {
        let program = serve(flags, &[("TEST_SECRET", "s")]);
        let answer = Client::connect(program.address)
            .await
            .post(HEAR, &request_body("a"))
            .await;
        assert_eq!(rejection(&answer), (422, "refused".to_owned(), false));
        program.signal("TERM");
        let ended = spawn_blocking(|| program.ended()).await.unwrap();
        let line = ended
            .stderr
            .lines()
            .find(|line| line.contains("the call failed"))
            .unwrap();
        match serde_json::from_str::<Value>(line) {
            Ok(event) => {
                assert!(is_json, "{line}");
                assert_eq!(event["code"], "refused", "{line}");
                assert_eq!(event["span"]["invocation_id"], "i-1", "{line}");
                assert_eq!(event["span"]["skill"], "process.hear@1.2", "{line}");
                // An event within a span of the author has the same fields.
                let inner = ended
                    .stderr
                    .lines()
                    .find(|line| line.contains("it is heard"))
                    .unwrap();
                let inner: Value = serde_json::from_str(inner).unwrap();
                assert_eq!(inner["span"]["name"], "hearing", "{inner}");
                assert_eq!(inner["spans"][0]["invocation_id"], "i-1", "{inner}");
                assert_eq!(inner["spans"][0]["skill"], "process.hear@1.2", "{inner}");
            }
            Err(_) => {
                assert!(!is_json, "{line}");
                assert!(
                    line.contains("i-1") && line.contains("process.hear@1.2"),
                    "{line}"
                );
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_invalid_log_filter_is_reported() {
    for (filter, told) in [
        ("process=loud", true),
        ("warn,process=loud", true),
        ("warn,process=debug", false),
    ] {
        let program = serve(&[], &[("RUST_LOG", filter)]);
        program.signal("TERM");
        let ended = spawn_blocking(|| program.ended()).await.unwrap();
        let lines: Vec<_> = ended
            .stderr
            .lines()
            .filter(|line| line.contains("RUST_LOG"))
            .collect();
        assert_eq!(lines.len(), usize::from(told), "{filter} {ended:?}");
        if let [line] = lines.as_slice() {
            let event: Value = serde_json::from_str(line).unwrap();
            assert_eq!(event["level"], "WARN");
            assert!(
                event["problem"]
                    .as_str()
                    .unwrap()
                    .starts_with(&format!("{filter:?}: ")),
                "{line}"
            );
        }
    }
}

/// The cells of the rows of the table of a page of `docs/reference` whose first column is `column`, without backticks.
fn table(page: &str, column: &str) -> Vec<Vec<String>> {
    let path = format!("{}/../docs/reference/{page}", env!("CARGO_MANIFEST_DIR"));
    let page = std::fs::read_to_string(path).unwrap();
    let head = format!("| {column} |");
    let table = page.split("\n\n").find(|block| block.starts_with(&head)).unwrap();
    let cells = |row: &str| {
        row.split('|')
            .skip(1)
            .map(|cell| cell.trim().replace('`', ""))
            .collect()
    };
    table.lines().skip(2).map(cells).collect()
}

#[test]
fn flags_variables_and_defaults_match_the_docs() {
    let help = run(BINARY, &["serve", "http", "--help"], &[]).stdout;
    let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    // Without the examples before it.
    let (_, help) = help.split_once(" Options:").unwrap();
    let documented = table("configuration.md", "setting");
    for row in &documented {
        let [flag, variable, default, ..] = row.as_slice() else {
            panic!("{row:?}");
        };
        let (_, rest) = help
            .split_once(&format!(" {flag} "))
            .unwrap_or_else(|| panic!("no {flag} in {help}"));
        let own = rest.split(" --").next().unwrap();
        assert!(own.contains(&format!("[env: {variable}=]")), "{flag}: {own}");
        let given = own.contains(&format!("[default: {default}]"));
        assert_eq!(given, default != "off", "{flag}: {own}");
    }
    let variables = help.matches("[env: ").count();
    assert_eq!(variables, documented.len(), "{help}");
    for row in table("configuration.md", "flag") {
        assert!(
            help.contains(&format!(" {} ", row[0])) || help.contains(&format!(" {}[", row[0])),
            "{row:?}"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn metrics_match_the_docs() {
    let program = serve(&[], &[]);
    let text = Client::connect(program.address)
        .await
        .get("GET", "/metrics")
        .await
        .body;
    let types = text.lines().filter_map(|line| line.strip_prefix("# TYPE "));
    let found: Vec<_> = types.map(|line| line.split_once(' ').unwrap()).collect();
    let documented = table("observability.md", "metric");
    let documented: Vec<_> = documented
        .iter()
        .map(|row| (row[0].as_str(), row[1].as_str()))
        .collect();
    let (shown, absent): (Vec<_>, Vec<_>) = documented.iter().partition(|row| found.contains(row));
    assert_eq!(found, shown);
    // Metrics whose labels are not known before an event.
    assert_eq!(
        absent.iter().map(|(name, _)| *name).collect::<Vec<_>>(),
        [
            "skill_sdk_call_errors_total",
            "skill_sdk_cost_units_total",
            "skill_sdk_refusals_total"
        ]
    );
}
