//! Operations: readiness, metrics, OpenAPI.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};
use skill_sdk::context::States;
use skill_sdk::http::{HttpServer, ServeOptions, router};
use skill_sdk::pipeline::SkillSet;
use skill_sdk::{Attached, Attachment, Environment, SkillContext, SkillError, skill, state};
use skill_sdk_tests::raw_http::{Client, Server, anonymous, until};

use super::{act, rejection, unclassified};

/// Requires several secrets, settings and a state.
#[skill(
    "http.needs",
    version = "1",
    side_effects = "none",
    risk = "low",
    secrets = ["TEST_NEEDED_SECRET"],
    config = ["TEST_NEEDED_CONFIG", "TEST_OTHER_CONFIG"]
)]
fn needs(ctx: &SkillContext) {
    let _ = ctx.secret("TEST_NEEDED_SECRET");
}

/// Returns attachments, or fails.
#[skill("http.attach", version = "1", side_effects = "none", risk = "low")]
async fn attach() -> Result<Attached<u8>, SkillError> {
    Ok(Attached::new(1).with(Attachment::text("one")))
}

/// Whether [`Flaky`] can be built.
static BUILDS: AtomicBool = AtomicBool::new(false);

struct Flaky;

#[state]
fn flaky() -> Result<Flaky, SkillError> {
    if BUILDS.load(Ordering::SeqCst) {
        return Ok(Flaky);
    }
    Err(SkillError::retryable("no_luck", "hunter2"))
}

async fn serve(http: HttpServer) -> Server {
    Server::start(http, ServeOptions::default()).await
}

/// The reasons why a server is not ready.
async fn reasons(server: &Server) -> Value {
    let answer = server.connect().await.get("GET", "/readyz").await;
    assert_eq!(rejection(&answer, 503), ("not_ready".to_owned(), true));
    answer.json()["error"]["details"]["reasons"].clone()
}

#[tokio::test(start_paused = true)]
async fn the_server_is_ready_once_everything_is_configured() {
    let host = SkillSet::collect_only(&["http.needs@1"]).unwrap();
    let variables = |names: &[(&str, &str)]| {
        let own = names
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Environment::from_vars(own)
    };
    let empty = variables(&[("TEST_OTHER_CONFIG", "")]);
    let server = serve(HttpServer::anonymous(host.clone()).environment(empty)).await;
    let found = reasons(&server).await;
    let part = |code: &str| {
        let all = found.as_array().unwrap();
        let one = all.iter().find(|reason| reason["code"] == code);
        one.map(|reason| reason["names"].clone()).unwrap_or_default()
    };
    assert_eq!(part("secret_missing"), json!(["TEST_NEEDED_SECRET"]));
    assert_eq!(
        part("config_missing"),
        json!(["TEST_NEEDED_CONFIG", "TEST_OTHER_CONFIG"])
    );
    let states = part("state_unavailable").to_string();
    assert!(states.contains("Flaky"), "{found}");
    assert!(
        !found.to_string().contains("hunter2"),
        "only names must be reported: {found}"
    );
    // The server still runs.
    assert_eq!(server.connect().await.get("GET", "/healthz").await.status, 200);

    let full = variables(&[
        ("TEST_NEEDED_SECRET", "hunter2"),
        ("TEST_NEEDED_CONFIG", "hunter2"),
        ("TEST_OTHER_CONFIG", "hunter2"),
    ]);
    let lets_in = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&lets_in);
    let http = HttpServer::anonymous(host).environment(full).not_ready_while(
        "warming",
        "it is warming up",
        move || !flag.load(Ordering::SeqCst),
    );
    let server = serve(http).await;
    let found = reasons(&server).await;
    assert_eq!(
        found[0],
        json!({"code": "warming", "message": "it is warming up"})
    );
    assert_eq!(found[1]["code"], "state_unavailable");
    BUILDS.store(true, Ordering::SeqCst);
    lets_in.store(true, Ordering::SeqCst);
    // Readiness results are cached for 1 s.
    tokio::time::sleep(std::time::Duration::from_secs(2)).await;
    let answer = server.connect().await.get("GET", "/readyz").await;
    assert_eq!(
        (answer.status, answer.body.as_str()),
        (200, r#"{"status":"ready"}"#)
    );
}

#[tokio::test]
async fn metrics_count_calls_by_skill() {
    let server = serve(anonymous(&[act::SKILL, unclassified::SKILL])).await;
    let mut client = server.connect().await;
    for action in ["a", "spend", "spend", "retryable", "terminal", "panic"] {
        client
            .call(act::SKILL, &json!({"inputs": {"action": action}}))
            .await;
    }
    client.post("/skills/http.act@1", "{").await;
    client.post("/skills/nope@1", "{}").await;
    let answer = client.get("GET", "/metrics").await;
    assert_eq!(
        answer.header("content-type"),
        "text/plain; version=0.0.4; charset=utf-8"
    );
    for line in [
        "# TYPE skill_sdk_calls_total counter",
        "skill_sdk_calls_total{skill=\"http.act@1\"} 6",
        "skill_sdk_calls_total{skill=\"http.unclassified@1\"} 0",
        "skill_sdk_call_errors_total{skill=\"http.act@1\",code=\"busy\"} 1",
        "skill_sdk_call_errors_total{skill=\"http.act@1\",code=\"denied\"} 1",
        "skill_sdk_call_errors_total{skill=\"http.act@1\",code=\"skill_error\"} 1",
        "# TYPE skill_sdk_call_duration_seconds histogram",
        "skill_sdk_call_duration_seconds_bucket{skill=\"http.act@1\",le=\"+Inf\"} 6",
        "skill_sdk_call_duration_seconds_count{skill=\"http.act@1\"} 6",
        "# TYPE skill_sdk_calls_in_flight gauge",
        "skill_sdk_calls_in_flight{skill=\"http.act@1\"} 0",
        "skill_sdk_cost_units_total{skill=\"http.act@1\",unit=\"ё\"} 3",
        "skill_sdk_refusals_total{code=\"bad_request\"} 1",
        "skill_sdk_refusals_total{code=\"skill_not_hosted\"} 1",
        "skill_sdk_connections 1",
        "skill_sdk_connections_opened_total 1",
        "skill_sdk_connections_refused_total 0",
    ] {
        let found = answer
            .body
            .lines()
            .any(|found| found == line || found.strip_suffix(".0") == Some(line));
        assert!(found, "{line} is not in {}", answer.body);
    }
}

#[tokio::test]
async fn metrics_count_cancelled_calls() {
    let server = serve(anonymous(&[act::SKILL])).await;
    let mut events = skill_sdk_tests::skill_events::SkillEvents::of_call("counted");
    let mut client = server.connect().await;
    let body = json!({"invocationId": "counted", "inputs": {"action": "hang"}}).to_string();
    client
        .send(skill_sdk_tests::raw_http::request(
            "POST",
            "/skills/http.act@1",
            &[],
            &body,
        ))
        .await;
    events.started().await;
    drop(client);
    events.dropped().await;
    let line = "skill_sdk_call_errors_total{skill=\"http.act@1\",code=\"cancelled\"} 1";
    let mut probe = server.connect().await;
    until("the call is counted", async || {
        probe.get("GET", "/metrics").await.body.contains(line)
    })
    .await;
}

#[tokio::test]
async fn openapi_describes_the_hosted_skills() {
    let server = serve(anonymous(&[act::SKILL, attach::SKILL, unclassified::SKILL])).await;
    let document = server.connect().await.get("GET", "/openapi.json").await.json();
    assert_eq!(document["openapi"], "3.1.0");
    assert_eq!(document["servers"], json!([{"url": "/"}]));
    let call = &document["paths"]["/skills/http.act@1"]["post"];
    assert_eq!(call["operationId"], "callHttpActV1");
    assert_eq!(
        call["responses"]["200"]["content"]["application/json"]["schema"]["$ref"],
        "#/components/schemas/HttpActV1Outputs"
    );
    assert_eq!(
        document["components"]["schemas"]["HttpActV1Inputs"]["required"],
        json!(["action"])
    );
    for status in ["400", "404", "408", "413", "415", "422", "429", "500", "503"] {
        let reference = call["responses"][status]["$ref"].as_str().unwrap();
        let response = document.pointer(reference.trim_start_matches('#')).unwrap();
        let schema = &response["content"]["application/json"]["schema"]["$ref"];
        assert_eq!(schema, "#/components/schemas/Error", "{status}");
    }
    // The document describes multipart responses where a skill may return attachments.
    let plain = &call["responses"]["200"];
    assert_eq!(plain["headers"]["X-Skill-Attachments"], Value::Null);
    let attaches = &document["paths"]["/skills/http.attach@1"]["post"]["responses"]["200"];
    let kinds: Vec<_> = attaches["content"].as_object().unwrap().keys().collect();
    assert_eq!(kinds, ["application/json", "multipart/mixed"]);
    let header = attaches["headers"]["X-Skill-Attachments"]["$ref"]
        .as_str()
        .unwrap();
    let header = document.pointer(header.trim_start_matches('#')).unwrap();
    assert_eq!(header["schema"]["type"], "integer");
    // No authentication is declared, since none is required.
    assert_eq!(call["responses"]["401"], Value::Null);
    assert_eq!(document["components"]["securitySchemes"], Value::Null);
}

#[tokio::test]
async fn openapi_paths_have_the_prefix() {
    let host = SkillSet::with_states([act::SKILL], States::default()).unwrap();
    let app = axum::Router::new().nest("/v1/agents", router(HttpServer::anonymous(host)));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, app).await });
    let mut client = Client::connect(address).await;
    let listing = client.get("GET", "/v1/agents/skills").await.json();
    let path = listing["skills"][0]["path"].as_str().unwrap().to_owned();
    assert_eq!(path, "/v1/agents/skills/http.act@1");
    assert_eq!(
        client.post(&path, r#"{"inputs":{"action":"a"}}"#).await.status,
        200
    );
    let document = client.get("GET", "/v1/agents/openapi.json").await.json();
    assert_eq!(document["servers"], json!([{"url": "/v1/agents"}]));
}
