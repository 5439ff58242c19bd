//! An HTTP server with authentication: which requests need a token, the order of the checks, and rejected callers.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::json;
use skill_sdk::http::ServeOptions;
use skill_sdk::testing::{KeysAnswer, TestIssuer};
use skill_sdk::{SkillContext, SkillError, skill};
use skill_sdk_tests::log;
use skill_sdk_tests::raw_http::{Client, Response, Server, anonymous, request};

use super::{hosted, mounted};

/// Returns the caller.
#[skill("auth.whoami", version = "1", side_effects = "none", risk = "low")]
async fn whoami(ctx: &SkillContext) -> Option<String> {
    ctx.caller().map(|caller| caller.principal_id.clone())
}

/// Requires a scope.
#[skill("auth.write", version = "1", side_effects = "none", risk = "low")]
async fn write(ctx: &SkillContext) -> Result<(), SkillError> {
    let caller = ctx.caller().expect("the server authenticates callers");
    caller.require_any_scope(&["things:write", "things:admin"])
}

const CALL: &str = r#"{"inputs":{}}"#;

/// Sends a call with these `Authorization` headers.
async fn call(client: &mut Client, target: &str, authorization: &[&str]) -> Response {
    let mut headers = vec![("Content-Type", "application/json")];
    headers.extend(authorization.iter().map(|value| ("Authorization", *value)));
    client.send(request("POST", target, &headers, CALL)).await;
    client.receive().await
}

/// Asserts the response that every caller without a valid token gets.
#[track_caller]
fn unauthorized(answer: &Response) {
    assert_eq!(answer.status, 401, "{answer:?}");
    assert_eq!(answer.header("www-authenticate"), "Bearer");
    assert_eq!(answer.header("content-type"), "application/json");
    let error = &answer.json()["error"];
    assert_eq!(
        (&error["code"], &error["retryable"], &error["details"]),
        (&json!("invalid_token"), &json!(false), &json!(null))
    );
}

#[tokio::test]
async fn the_skill_sees_the_caller() {
    let issuer = TestIssuer::start();
    let http = hosted(&[whoami::SKILL, write::SKILL], issuer.verifier());
    let server = Server::start(http, ServeOptions::default()).await;
    let mut client = server.connect().await;
    let principal = "22222222-2222-4222-8222-222222222222";
    let token = issuer.token().principal(principal).scopes(["things:write"]);
    for _ in 0..2 {
        let answer = call(&mut client, "/skills/auth.whoami@1", &[&token.authorization()]).await;
        assert_eq!(
            (answer.status, answer.json()),
            (200, json!({"result": principal}))
        );
    }
    for (token, status) in [
        (token.clone(), 200),
        (token.clone().scopes(["things:admin"]), 200),
        (token.clone().scopes(["things:read"]), 422),
        (token.clone().scope_ceiling(["things:read"]), 422),
        (token.clone().scope_ceiling([]), 422),
        (token.clone().scope_ceiling(["things:write"]), 200),
    ] {
        let answer = call(&mut client, "/skills/auth.write@1", &[&token.authorization()]).await;
        assert_eq!(answer.status, status, "{token:?}");
        if status == 422 {
            assert_eq!(answer.code(), "insufficient_scope");
        }
    }
    // The keys were fetched when the server started.
    assert_eq!(issuer.fetches(), 1);
}

/// The paths of the routes, as the source of the server names them.
fn routes() -> BTreeSet<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../skill-sdk/src/http/routes.rs");
    let source = std::fs::read_to_string(path).unwrap();
    let routes: BTreeSet<String> = source
        .split(".route(\"")
        .skip(1)
        .map(|rest| {
            rest.split('"')
                .next()
                .unwrap()
                .replace("{reference}", "auth.whoami@1")
        })
        .collect();
    assert!(routes.len() >= 3, "{routes:?}");
    routes
}

#[tokio::test]
async fn every_path_except_probes_requires_a_token() {
    let issuer = TestIssuer::start();
    let address = mounted(hosted(&[whoami::SKILL], issuer.verifier())).await;
    let mut client = Client::connect(address).await;
    let mut paths = routes();
    paths.extend(
        [
            "/healthz",
            "/readyz",
            "/",
            "/nope",
            "/skills/",
            "/skills/nope@1",
            "/skills/%ff",
        ]
        .map(str::to_owned),
    );
    for path in &paths {
        let get = client.get("GET", path).await;
        let post = call(&mut client, path, &[]).await;
        match path.as_str() {
            "/healthz" | "/readyz" => {
                assert!(!get.headers.contains_key("www-authenticate"), "{path}: {get:?}");
                assert_ne!(get.status, 401, "{path}");
            }
            _ => {
                // A wrong method is reported before the token is checked.
                for answer in [&get, &post] {
                    if answer.status != 405 {
                        unauthorized(answer);
                    }
                }
                assert!(get.status == 401 || post.status == 401, "{path}");
            }
        }
    }
    let (head, length) = {
        client.send(request("HEAD", "/skills", &[], "")).await;
        client.receive_head().await
    };
    assert_eq!((head.status, length > 0), (401, true));
}

#[tokio::test]
async fn metrics_require_a_token_unless_public() {
    let issuer = TestIssuer::start();
    for open in [false, true] {
        let http = hosted(&[whoami::SKILL], issuer.verifier());
        let http = if open { http.public_metrics() } else { http };
        let mut client = Client::connect(mounted(http).await).await;
        let answer = client.get("GET", "/metrics").await;
        if open {
            assert_eq!(answer.status, 200);
            assert!(answer.body.contains("auth.whoami@1"), "{answer:?}");
        } else {
            unauthorized(&answer);
        }
        // Nothing else is public for such a request.
        for target in ["/skills", "/openapi.json", "/nope"] {
            unauthorized(&client.get("GET", target).await);
        }
        let token = issuer.token().authorization();
        let headers = [("Authorization", token.as_str())];
        client.send(request("GET", "/metrics", &headers, "")).await;
        assert_eq!(client.receive().await.status, 200);
    }
}

#[tokio::test]
async fn the_token_is_verified_before_anything_else() {
    let issuer = TestIssuer::start();
    let http = hosted(&[whoami::SKILL], issuer.verifier())
        .body_limit(10)
        .concurrency(1);
    let address = mounted(http).await;
    let mut answers = Vec::new();
    for (target, headers, body) in [
        ("/skills/auth.whoami@1", vec![], CALL),
        ("/skills/nope@1", vec![], CALL),
        ("/skills/%ff", vec![], CALL),
        ("/nope", vec![], CALL),
        (
            "/skills/auth.whoami@1",
            vec![("Content-Type", "text/plain")],
            CALL,
        ),
        ("/skills/auth.whoami@1", vec![], "not json"),
        (
            "/skills/auth.whoami@1",
            vec![("Authorization", "Bearer abc")],
            CALL,
        ),
        ("/skills/nope@1", vec![("Authorization", "Basic abc")], ""),
    ] {
        let mut client = Client::connect(address).await;
        client.send(request("POST", target, &headers, body)).await;
        answers.push(client.receive().await);
    }
    // The server does not wait for the body of an unauthenticated request.
    let mut client = Client::connect(address).await;
    client
        .send("POST /skills/auth.whoami@1 HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000000\r\n\r\n")
        .await;
    answers.push(client.receive().await);
    for answer in &mut answers {
        unauthorized(answer);
        answer.headers.remove("date");
        // The connection is closed because the body was not read.
        answer.headers.remove("connection");
    }
    assert!(
        answers
            .windows(2)
            .all(|two| (&two[0].headers, &two[0].body) == (&two[1].headers, &two[1].body)),
        "all responses are the same: {answers:#?}"
    );
}

#[tokio::test]
async fn invalid_tokens_get_the_same_response_and_are_not_logged() {
    log::capture();
    let issuer = TestIssuer::start();
    issuer.add_key();
    let address = mounted(hosted(&[whoami::SKILL], issuer.verifier())).await;
    let mut client = Client::connect(address).await;
    let good = issuer.token().claim("email", "hunter2@example.com");
    let mut tokens: Vec<String> = [
        good.clone(),
        good.clone().tampered(),
        good.clone().signed_by("k2"),
        good.clone().key_id("hunter2"),
        good.clone().algorithm("hunter2"),
        good.clone().algorithm("HS256"),
        good.clone().claim("iss", "hunter2"),
        good.clone().claim("aud", "hunter2"),
        good.clone().claim("sub", "hunter2"),
        good.clone().claim("scope", "hunter2\n"),
        good.clone().expires_in(-60),
        good.clone().without("jti"),
    ]
    .iter()
    .map(skill_sdk::testing::TestToken::sign)
    .collect();
    tokens.push("hunter2".to_owned());
    let mut bodies = BTreeSet::new();
    for (index, token) in tokens.iter().enumerate() {
        let answer = call(
            &mut client,
            "/skills/auth.whoami@1",
            &[&format!("Bearer {token}")],
        )
        .await;
        if index == 0 {
            assert_eq!(answer.status, 200);
        } else {
            unauthorized(&answer);
            bodies.insert(answer.body);
        }
    }
    let bearer = format!("Bearer {}", tokens[0]);
    let twice = call(&mut client, "/skills/auth.whoami@1", &[&bearer, &bearer]).await;
    unauthorized(&twice);
    bodies.insert(twice.body);
    assert_eq!(bodies.len(), 1, "{bodies:?}");

    let text = log::text();
    assert!(text.contains("authentication failed"));
    assert!(!text.contains("hunter2"));
    for token in &tokens {
        for part in token.split('.').filter(|part| part.len() > 20) {
            // The JOSE header is the same for all tokens and not secret. The rest is.
            assert!(!text.contains(part), "{part}");
        }
    }
}

#[tokio::test]
async fn missing_keys_are_a_retryable_failure() {
    let issuer = TestIssuer::start();
    issuer.answer_with(KeysAnswer::Closed);
    let address = mounted(hosted(&[whoami::SKILL], issuer.verifier())).await;
    let mut client = Client::connect(address).await;
    for target in ["/skills/auth.whoami@1", "/skills/nope@1", "/nope"] {
        let answer = call(&mut client, target, &[&issuer.token().authorization()]).await;
        assert_eq!(answer.status, 503, "{answer:?}");
        let error = answer.json()["error"].clone();
        assert_eq!(
            (&error["code"], &error["retryable"]),
            (&json!("verification_unavailable"), &json!(true))
        );
        assert!(!answer.headers.contains_key("www-authenticate"));
    }
    assert_eq!(client.get("GET", "/healthz").await.status, 200);
    unauthorized(&call(&mut client, "/skills/auth.whoami@1", &[]).await);
}

#[tokio::test]
async fn the_server_is_ready_once_it_has_keys() {
    let issuer = TestIssuer::start();
    issuer.answer_with(KeysAnswer::Held);
    let address = mounted(hosted(&[whoami::SKILL], issuer.verifier())).await;
    let mut client = Client::connect(address).await;
    let answer = client.get("GET", "/readyz").await;
    assert_eq!(answer.status, 503, "{answer:?}");
    assert!(answer.body.contains("keys_missing"), "{answer:?}");
    // The probe fetched the keys.
    issuer.fetched(1).await;
    issuer.answer_with(KeysAnswer::Keys);
    let token = issuer.token().authorization();
    assert_eq!(
        call(&mut client, "/skills/auth.whoami@1", &[&token]).await.status,
        200
    );
    assert_eq!(client.get("GET", "/readyz").await.status, 200);
}

#[tokio::test]
async fn an_anonymous_server_ignores_tokens() {
    let server = Server::of(&[whoami::SKILL]).await;
    let mut client = server.connect().await;
    for authorization in [&["Bearer abc"][..], &["Basic x", "y"], &[]] {
        let answer = call(&mut client, "/skills/auth.whoami@1", authorization).await;
        assert_eq!((answer.status, answer.json()), (200, json!({"result": null})));
    }
    assert!(anonymous(&[whoami::SKILL]).is_anonymous());
}

#[tokio::test]
async fn an_authenticated_server_can_bind_any_address() {
    let issuer = TestIssuer::start();
    let http = hosted(&[whoami::SKILL], issuer.verifier());
    let server = Server::at("0.0.0.0:0", http, ServeOptions::default()).await;
    let mut client = Client::connect(([127, 0, 0, 1], server.address.port()).into()).await;
    unauthorized(&call(&mut client, "/skills/auth.whoami@1", &[]).await);
}
