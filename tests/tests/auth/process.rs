//! `serve http` with authentication in a process of its own: environment variables and flags.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, Command, Stdio};

use skill_sdk::testing::{KeysAnswer, TestIssuer};
use skill_sdk_tests::raw_http::{Client, request};

/// `serve http` with the given environment variables and no other variables of the SDK.
fn serve(variables: &[(String, String)], flags: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_skills"));
    command.args(["serve", "http", "--port", "0"]).args(flags);
    for (name, _) in std::env::vars() {
        if name.starts_with("SKILL_SDK_") {
            command.env_remove(name);
        }
    }
    command.envs(variables.iter().cloned());
    command.env_remove("RUST_LOG");
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// A running server. Dropping it kills the process.
struct Running {
    child: Child,
    address: String,
}

impl Running {
    fn start(mut command: Command) -> Self {
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap())
            .read_line(&mut line)
            .unwrap();
        let address = line
            .trim()
            .strip_prefix("listening on http://")
            .map(str::to_owned);
        Self {
            address: address.unwrap_or_else(|| panic!("{line:?}")),
            child,
        }
    }

    async fn connect(&self) -> Client {
        Client::connect(self.address.parse().unwrap()).await
    }

    /// Stops the process and returns its log.
    fn end(mut self) -> String {
        self.child.kill().unwrap();
        let mut log = String::new();
        self.child
            .stderr
            .take()
            .unwrap()
            .read_to_string(&mut log)
            .unwrap();
        self.child.wait().unwrap();
        log
    }
}

#[test]
fn all_three_variables_are_required() {
    let issuer = TestIssuer::start();
    let all = issuer.variables();
    for mask in 0..7_usize {
        let is_set = |index: usize| mask & (1 << index) != 0;
        let set: Vec<_> = (0..3)
            .filter(|&index| is_set(index))
            .map(|index| all[index].clone())
            .collect();
        let output = serve(&set, &[]).output().unwrap();
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert_eq!(output.stdout, b"");
        let first = text.lines().next().unwrap();
        let missing: Vec<_> = (0..3)
            .filter(|&index| !is_set(index))
            .map(|index| all[index].0.as_str())
            .collect();
        assert!(
            first.starts_with("error: ") && first.contains(&format!("{} ", missing.join(", "))),
            "{text}"
        );
    }
    assert_eq!(issuer.fetches(), 0);
}

#[test]
fn keys_are_not_fetched_over_plain_http() {
    let mut variables = TestIssuer::start().variables();
    variables[2].1 = "http://iam.example/jwks".to_owned();
    let output = serve(&variables, &[]).output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(
        text.contains("SKILL_SDK_JWKS_URL must begin with https://"),
        "{text}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn valid_tokens_are_accepted_and_rejections_are_logged() {
    let issuer = TestIssuer::start();
    let running = Running::start(serve(&issuer.variables(), &[]));
    // The keys are fetched before the first call.
    issuer.fetched(1).await;
    let mut client = running.connect().await;
    let token = issuer.token();
    let bad = token.clone().claim("aud", "others").sign();
    for (token, status) in [(token.sign(), 200), (bad.clone(), 401)] {
        let bearer = format!("Bearer {token}");
        client
            .send(request("GET", "/skills", &[("Authorization", &bearer)], ""))
            .await;
        assert_eq!(client.receive().await.status, status);
    }
    assert_eq!(client.get("GET", "/skills").await.status, 401);
    assert_eq!(client.get("GET", "/healthz").await.status, 200);
    let log = running.end();
    assert!(!log.contains("warning"), "{log}");
    assert!(log.contains("-H \"authorization: Bearer $TOKEN\""), "{log}");
    assert!(
        log.contains("the audience is not the expected one, or is a list"),
        "{log}"
    );
    for part in bad.split('.') {
        assert!(!log.contains(part), "{log}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unreachable_issuer_is_retried() {
    let issuer = TestIssuer::start();
    issuer.answer_with(KeysAnswer::Closed);
    let running = Running::start(serve(&issuer.variables(), &[]));
    issuer.fetched(1).await;
    let mut client = running.connect().await;
    let bearer = issuer.token().authorization();
    client
        .send(request("GET", "/skills", &[("Authorization", &bearer)], ""))
        .await;
    assert_eq!(client.receive().await.status, 503);
    let log = running.end();
    assert!(
        log.contains("the keys of the issuer could not be fetched"),
        "{log}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn anonymous_access_is_logged_and_limited_to_loopback() {
    let issuer = TestIssuer::start();
    // The flag overrides the environment variables.
    for (flags, variables) in [
        (&["--allow-anonymous"][..], &issuer.variables()[..]),
        (&["--allow-anonymous=anywhere", "--host", "0.0.0.0"], &[]),
    ] {
        let mut running = Running::start(serve(variables, flags));
        running.address = running.address.replace("0.0.0.0", "127.0.0.1");
        assert_eq!(running.connect().await.get("GET", "/skills").await.status, 200);
        let log = running.end();
        assert!(log.contains("warning: callers need no token"), "{log}");
    }
    assert_eq!(issuer.fetches(), 0);
    for host in ["0.0.0.0", "::", "192.0.2.1"] {
        let output = serve(&[], &["--allow-anonymous", "--host", host])
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2), "{host}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_boolean_variable_accepts_common_spellings() {
    let issuer = TestIssuer::start();
    for (value, open) in [
        ("1", true),
        ("true", true),
        ("yes", true),
        ("ON", true),
        ("0", false),
        ("false", false),
        ("no", false),
        ("off", false),
    ] {
        let mut variables = issuer.variables().to_vec();
        variables.push(("SKILL_SDK_PUBLIC_METRICS".to_owned(), value.to_owned()));
        let running = Running::start(serve(&variables, &[]));
        let answer = running.connect().await.get("GET", "/metrics").await;
        assert_eq!(answer.status == 200, open, "{value}: {answer:?}");
        running.end();
    }
    for value in ["", "2", "maybe"] {
        let mut variables = issuer.variables().to_vec();
        variables.push(("SKILL_SDK_PUBLIC_METRICS".to_owned(), value.to_owned()));
        let output = serve(&variables, &[]).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{value:?}");
    }
}
