//! Status codes: every row of the table.

use serde_json::json;
use skill_sdk::http::ServeOptions;
use skill_sdk_tests::raw_http::{Server, anonymous, request};
use skill_sdk_tests::skill_events::{self, SkillEvents};

use super::{act, rejection, unclassified};

const ACT: &str = "/skills/http.act@1";

fn action(action: &str) -> String {
    json!({"inputs": {"action": action}}).to_string()
}

#[tokio::test]
async fn outputs_have_no_envelope_and_costs_are_headers() {
    let server = Server::of(&[act::SKILL]).await;
    let mut client = server.connect().await;
    let answer = client.post(ACT, &action("nothing")).await;
    assert_eq!(
        (answer.status, answer.body.as_str()),
        (200, r#"{"result":"nothing"}"#)
    );
    assert_eq!(answer.header("content-type"), "application/json");
    assert!(!answer.headers.contains_key("x-skill-cost"), "no cost, no header");
    let answer = client.post(ACT, &action("spend")).await;
    assert_eq!(answer.header("x-skill-cost"), r#"{"units":{"\u0451":1.5}}"#);
}

#[tokio::test]
async fn lenient_requests_are_accepted() {
    let server = Server::of(&[act::SKILL]).await;
    let mut client = server.connect().await;
    let json_type = [("Content-Type", "application/json")];
    let good = [
        (ACT, &json_type[..], r#"{"inputs":{"action":"a"}}"#),
        ("/skills/http.act%401", &json_type, r#"{"inputs":{"action":"a"}}"#),
        (
            "/skills/http%2Eact@1?x=1",
            &json_type,
            r#"{"inputs":{"action":"a"}}"#,
        ),
        (ACT, &[], r#"{"inputs":{"action":"a"}}"#),
        (
            ACT,
            &[("content-type", "Application/JSON; charset=utf-8")],
            r#"{"inputs":{"action":"a"}}"#,
        ),
        (
            ACT,
            &json_type,
            r#"{"inputs":{"action":"a"},"invocationId":null,"idempotencyKey":null,"settings":null}"#,
        ),
        (
            ACT,
            &json_type,
            r#"{"inputs":{"action":"a"},"other":[1],"invocationId":"i","settings":{"values":{}}}"#,
        ),
        (
            ACT,
            &json_type,
            r#"{"inputs":{"action":"a"},"settings":"nonsense"}"#,
        ),
    ];
    for (target, headers, body) in good {
        client.send(request("POST", target, headers, body)).await;
        let answer = client.receive().await;
        assert_eq!(
            (answer.status, answer.body.as_str()),
            (200, r#"{"result":"a"}"#),
            "{target} {headers:?} {body}"
        );
    }
}

#[tokio::test]
async fn invalid_bodies_are_bad_requests() {
    let server = Server::of(&[act::SKILL]).await;
    let mut client = server.connect().await;
    for body in [
        "",
        "{",
        "x",
        "null",
        "1",
        "[]",
        "\"{}\"",
        "{}",
        r#"{"inputs":null}"#,
        r#"{"inputs":[]}"#,
        r#"{"inputs":"{}"}"#,
        r#"{"inputs":{}}}"#,
        r#"{"invocationId":"i"}"#,
    ] {
        let answer = client.post(ACT, body).await;
        assert_eq!(
            rejection(&answer, 400),
            ("bad_request".to_owned(), false),
            "{body}"
        );
    }
    let head = format!("POST {ACT} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n");
    client.send([head.as_bytes(), b"\xff\xfe"].concat()).await;
    assert_eq!(rejection(&client.receive().await, 400).0, "bad_request");
}

#[tokio::test]
async fn unknown_paths_and_skills_are_not_found() {
    let server = Server::of(&[act::SKILL]).await;
    let mut client = server.connect().await;
    for target in [
        "/skills/http.act@2",
        "/skills/http.act",
        "/skills/nope@1",
        "/skills/HTTP.act@1",
        "/skills/%FF@1",
        "/skills/http.act@1%20",
        "/skills/%D1%91@1",
        "/skills/a%2Fb@1",
    ] {
        let answer = client.post(target, &action("a")).await;
        assert_eq!(
            rejection(&answer, 404),
            ("skill_not_hosted".to_owned(), false),
            "{target}"
        );
    }
    for (target, says) in [
        (
            "/skills/http.act@2",
            "http.act@2 is not hosted here; there is http.act@1",
        ),
        (
            "/skills/http.axt@1",
            "http.axt@1 is not hosted here; did you mean http.act@1?",
        ),
    ] {
        let answer = client.post(target, &action("a")).await;
        assert_eq!(answer.json()["error"]["message"], says);
    }
    for target in [
        "/",
        "/skills/",
        "/skills/http.act@1/",
        "/skills/a/b",
        "/nope",
        "//skills",
        "/healthz/",
    ] {
        for method in ["GET", "POST", "PUT", "OPTIONS"] {
            let answer = client.get(method, target).await;
            assert_eq!(
                rejection(&answer, 404),
                ("not_found".to_owned(), false),
                "{method} {target}"
            );
        }
    }
}

#[tokio::test]
async fn wrong_methods_get_an_allow_header() {
    let server = Server::of(&[act::SKILL]).await;
    let mut client = server.connect().await;
    let table = [
        ("/skills", "POST", "GET,HEAD"),
        ("/healthz", "DELETE", "GET,HEAD"),
        ("/healthz", "POST", "GET,HEAD"),
        (ACT, "GET", "POST"),
        (ACT, "PUT", "POST"),
        (ACT, "OPTIONS", "POST"),
        ("/skills/nope@1", "GET", "POST"),
    ];
    for (target, method, allowed) in table {
        let answer = client.get(method, target).await;
        assert_eq!(
            rejection(&answer, 405),
            ("method_not_allowed".to_owned(), false),
            "{method} {target}"
        );
        assert_eq!(answer.header("allow"), allowed, "{method} {target}");
    }
}

#[tokio::test]
async fn head_is_get_without_a_body() {
    let server = Server::of(&[act::SKILL]).await;
    let mut client = server.connect().await;
    for (target, status) in [("/healthz", 200), ("/skills", 200), (ACT, 405), ("/nope", 404)] {
        let full = if status == 405 {
            None
        } else {
            Some(client.get("GET", target).await)
        };
        client.send(request("HEAD", target, &[], "")).await;
        let (answer, length) = client.receive_head().await;
        assert_eq!(answer.status, status, "{target}");
        assert_eq!(answer.header("content-type"), "application/json", "{target}");
        if let Some(full) = full {
            assert_eq!(length, full.body.len(), "{target}");
        }
        if status == 405 {
            assert_eq!(answer.header("allow"), "POST");
        }
    }
    // The responses had no body.
    assert_eq!(client.get("GET", "/healthz").await.body, r#"{"status":"ok"}"#);
}

#[tokio::test]
async fn large_bodies_are_rejected() {
    let http = anonymous(&[act::SKILL]).body_limit(100);
    let server = Server::start(http, ServeOptions::default()).await;
    let fits = action(&"a".repeat(100 - action("").len()));
    assert_eq!(fits.len(), 100);
    assert_eq!(server.connect().await.post(ACT, &fits).await.status, 200);

    // With a `Content-Length` the request is rejected by its headers …
    let mut client = server.connect().await;
    client
        .send(format!(
            "POST {ACT} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 101\r\n\r\n"
        ))
        .await;
    let answer = client.receive().await;
    assert_eq!(rejection(&answer, 413), ("payload_too_large".to_owned(), false));
    // … and without one while its body is read.
    let mut client = server.connect().await;
    let chunk = format!("32\r\n{}\r\n", "a".repeat(50));
    client
        .send(format!(
            "POST {ACT} HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n{}",
            chunk.repeat(3)
        ))
        .await;
    assert_eq!(rejection(&client.receive().await, 413).0, "payload_too_large");
}

#[tokio::test]
async fn other_media_types_are_rejected() {
    let server = Server::of(&[act::SKILL]).await;
    let mut client = server.connect().await;
    for content_type in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "application/jsonp",
        "json",
        "text/json5",
    ] {
        client
            .send(request(
                "POST",
                ACT,
                &[("Content-Type", content_type)],
                &action("a"),
            ))
            .await;
        let answer = client.receive().await;
        assert_eq!(
            rejection(&answer, 415),
            ("unsupported_media_type".to_owned(), false),
            "{content_type}"
        );
    }
}

#[tokio::test]
async fn failures_have_their_status() {
    skill_sdk::pipeline::install_panic_hook();
    let server = Server::of(&[act::SKILL, unclassified::SKILL]).await;
    let mut client = server.connect().await;
    let table = [
        (ACT, action("terminal"), 422, "denied", false),
        (
            ACT,
            r#"{"inputs":{}}"#.to_owned(),
            422,
            "input_contract_violation",
            false,
        ),
        (
            ACT,
            r#"{"inputs":{"action":1}}"#.to_owned(),
            422,
            "input_contract_violation",
            false,
        ),
        (ACT, action("retryable"), 503, "busy", true),
        (ACT, action("panic"), 500, "skill_error", false),
        (ACT, action("unusable"), 500, "skill_error", false),
        (
            "/skills/http.unclassified@1",
            r#"{"inputs":{}}"#.to_owned(),
            500,
            "skill_error",
            false,
        ),
    ];
    // All requests use one connection: no failure closes it.
    for (target, body, status, code, retryable) in table {
        let answer = client.post(target, &body).await;
        assert_eq!(rejection(&answer, status), (code.to_owned(), retryable), "{body}");
    }
    assert_eq!(client.post(ACT, &action("fine")).await.status, 200);
}

#[tokio::test(start_paused = true)]
async fn a_timeout_is_a_retryable_503() {
    let server = Server::of(&[act::SKILL]).await;
    let answer = server.connect().await.post(ACT, &action("hang")).await;
    assert_eq!(rejection(&answer, 503), ("timeout".to_owned(), true));
}

#[tokio::test]
async fn calls_over_the_limit_get_retry_after() {
    let http = anonymous(&[act::SKILL]).concurrency(1);
    let server = Server::start(http, ServeOptions::default()).await;
    let mut events = SkillEvents::of_call("limit");
    let (mut first, mut second) = (server.connect().await, server.connect().await);
    let body = json!({"invocationId": "limit", "inputs": {"action": "wait"}}).to_string();
    first.send(request("POST", ACT, &[], &body)).await;
    events.started().await;
    let answer = second.post(ACT, &action("a")).await;
    assert_eq!(rejection(&answer, 503), ("overloaded".to_owned(), true));
    assert!(answer.header("retry-after").parse::<u32>().unwrap() > 0);
    // Other requests are not limited.
    assert_eq!(second.get("GET", "/healthz").await.status, 200);
    skill_events::open_gate("limit");
    assert_eq!(first.receive().await.status, 200);
    assert_eq!(second.post(ACT, &action("a")).await.status, 200);
}

#[tokio::test]
async fn the_list_contains_the_hosted_skills() {
    let server = Server::of(&[act::SKILL, unclassified::SKILL]).await;
    let answer = server.connect().await.get("GET", "/skills").await;
    assert_eq!(answer.status, 200);
    assert_eq!(
        answer.body,
        concat!(
            r#"{"skills":[{"ref":"http.act@1","name":"http.act","version":"1","path":"/skills/http.act@1"},"#,
            r#"{"ref":"http.unclassified@1","name":"http.unclassified","version":"1","#,
            r#""path":"/skills/http.unclassified@1"}]}"#,
        )
    );
}
