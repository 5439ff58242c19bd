//! Tokens of a third-party identity provider.
//!
//! `SKILL_SDK_TEST_OIDC` names a directory whose `node_modules` contains the npm packages `oidc-provider` and `node` (22
//! or newer).

use std::env;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};
use skill_sdk::auth::{AuthSettings, Verifier};
use skill_sdk_tests::raw_http::{Client, Response, request};
use skill_sdk_tests::sample;

use super::{hosted, mounted};

/// A provider that runs until the end of the test.
struct Provider {
    child: Child,
    issuer: String,
}

impl Provider {
    /// Starts the provider. Returns `None`, with a message, if it is not installed.
    fn start() -> Option<Self> {
        let Some(packages) = env::var_os("SKILL_SDK_TEST_OIDC") else {
            eprintln!(
                "skipped: SKILL_SDK_TEST_OIDC does not name a directory with the package oidc-provider"
            );
            return None;
        };
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/auth/provider.mjs");
        let mut child = Command::new(Path::new(&packages).join("node_modules/.bin/node"))
            .arg(script)
            .arg(packages)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the directory contains node");
        let mut issuer = String::new();
        BufReader::new(child.stdout.as_mut().unwrap())
            .read_line(&mut issuer)
            .unwrap();
        let issuer = issuer.trim().to_owned();
        assert!(issuer.starts_with("http://127.0.0.1:"), "{issuer:?}");
        Some(Self { child, issuer })
    }

    /// The path of a URL of the provider.
    fn path<'a>(&self, url: &'a Value) -> &'a str {
        url.as_str().unwrap().strip_prefix(&self.issuer).unwrap()
    }

    /// Sends a request to the provider, which builds its own URLs from the `Host` header.
    async fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Response {
        let address = self.issuer.strip_prefix("http://").unwrap();
        let text = request(method, path, headers, body);
        let text = text.replacen("Host: localhost", &format!("Host: {address}"), 1);
        let mut client = Client::connect(address.parse().unwrap()).await;
        client.send(text).await;
        client.receive().await
    }

    /// Requests a token of the client with these parameters.
    async fn token(&self, endpoint: &str, parameters: &str) -> String {
        let body =
            format!("grant_type=client_credentials&client_id=tests&client_secret=of-the-tests{parameters}");
        let form = [("Content-Type", "application/x-www-form-urlencoded")];
        let answer = self.send("POST", endpoint, &form, &body).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.json()["access_token"].as_str().unwrap().to_owned()
    }
}

impl Drop for Provider {
    fn drop(&mut self) {
        // It may have exited already.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn tokens_of_a_real_provider_are_accepted() {
    let Some(provider) = Provider::start() else {
        return;
    };
    // An operator would find these URLs in the discovery document.
    let discovery = "/.well-known/openid-configuration";
    let discovered = provider.send("GET", discovery, &[], "").await.json();
    assert_eq!(discovered["issuer"], provider.issuer);
    let jwks_url = discovered["jwks_uri"].as_str().unwrap();
    let endpoint = provider.path(&discovered["token_endpoint"]);

    let settings = AuthSettings::new(&provider.issuer, "acme-skills", jwks_url).unwrap();
    let http = hosted(&[sample::context_echo::SKILL], Verifier::new(settings).unwrap());
    let mut client = Client::connect(mounted(http).await).await;
    for (parameters, status) in [
        (
            "&resource=https%3A%2F%2Fapi.test%2Facme-skills&scope=claims%3Aread",
            200,
        ),
        ("&resource=https%3A%2F%2Fapi.test%2Facme-skills", 200),
        (
            "&resource=https%3A%2F%2Fapi.test%2Fothers&scope=claims%3Aread",
            401,
        ),
        // Without a resource the provider issues an opaque token.
        ("", 401),
    ] {
        let bearer = format!("Bearer {}", provider.token(endpoint, parameters).await);
        let headers = [
            ("Content-Type", "application/json"),
            ("Authorization", bearer.as_str()),
        ];
        client
            .send(request(
                "POST",
                "/skills/ctx.echo@1",
                &headers,
                r#"{"inputs":{}}"#,
            ))
            .await;
        let answer = client.receive().await;
        assert_eq!(answer.status, status, "{parameters}: {answer:?}");
        if status == 200 {
            let caller = &answer.json()["caller"];
            assert_eq!(caller["issuer"], provider.issuer);
            assert_eq!(caller["tenantId"], "11111111-1111-4111-8111-111111111111");
            assert_eq!(caller["principalType"], "agent");
            let scopes = if parameters.contains("scope") {
                json!(["claims:read"])
            } else {
                json!([])
            };
            assert_eq!(caller["scopes"], scopes);
        }
    }
}
