//! Traces, and data that must not appear in any telemetry.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use serde_json::json;
use skill_sdk_tests::program::Program;
use skill_sdk_tests::raw_http::{Client, request};
use tokio::net::TcpListener;
use tokio::task::spawn_blocking;

use super::{BINARY, HEAR, serve};

/// A receiver of traces over OTLP.
struct Receiver {
    endpoint: String,
    received: Arc<Mutex<Vec<(HeaderMap, Bytes)>>>,
}

impl Receiver {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        let received = Arc::new(Mutex::new(Vec::new()));
        let all = Arc::clone(&received);
        let take = move |headers: HeaderMap, body: Bytes| {
            all.lock().unwrap().push((headers, body));
            async { StatusCode::OK }
        };
        let app = Router::new().route("/v1/traces", post(take));
        tokio::spawn(async move { axum::serve(listener, app).await });
        Self { endpoint, received }
    }

    /// All request bodies, concatenated.
    fn bodies(&self) -> Vec<u8> {
        let received = self.received.lock().unwrap();
        received.iter().flat_map(|(_, body)| body.to_vec()).collect()
    }
}

fn holds(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

fn hex(text: &str) -> Vec<u8> {
    let pairs = text.as_bytes().chunks(2);
    pairs
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect()
}

fn call(text: &str, ending: &str) -> String {
    json!({"invocationId": "i-7", "inputs": {"text": text, "ending": ending}}).to_string()
}

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const PARENT: &str = "b7ad6b7169203331";

/// Calls with a trace context. Returns the headers that the skill would forward.
async fn traced(program: &Program, flags: &str) -> BTreeMap<String, String> {
    let parent = format!("00-{TRACE}-{PARENT}-{flags}");
    let headers = [("traceparent", parent.as_str()), ("tracestate", "vendor=1")];
    let mut client = Client::connect(program.address).await;
    client
        .send(request("POST", HEAR, &headers, &call("a", "good")))
        .await;
    let answer = client.receive().await;
    serde_json::from_value(answer.json()["trace"].clone()).unwrap()
}

async fn stop(program: Program) -> (String, String) {
    program.signal("TERM");
    let ended = spawn_blocking(|| program.ended()).await.unwrap();
    assert!(ended.status.success(), "{ended:?}");
    (ended.stdout, ended.stderr)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_continue_the_trace_of_the_caller() {
    let receiver = Receiver::start().await;
    let variables = [
        ("TEST_SECRET", "s"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.endpoint.as_str()),
        ("OTEL_SERVICE_NAME", "the-service"),
        ("OTEL_EXPORTER_OTLP_HEADERS", "x-tenant=t"),
    ];
    let program = serve(&[], &variables);
    let handed_on = traced(&program, "01").await;
    let parent = &handed_on["traceparent"];
    assert!(
        parent.starts_with(&format!("00-{TRACE}-")) && parent.ends_with("-01"),
        "{parent}"
    );
    assert!(
        !parent.contains(PARENT),
        "the span of the call is the parent of what the skill does"
    );
    assert_eq!(handed_on["tracestate"], "vendor=1");
    let refused = Client::connect(program.address)
        .await
        .post(HEAR, &call("a", "refused"))
        .await;
    assert_eq!(refused.status, 422);
    let (_, stderr) = stop(program).await;
    assert!(stderr.contains(r#""code":"refused""#), "{stderr}");

    let bodies = receiver.bodies();
    for part in [
        &b"skill process.hear@1.2"[..],
        b"the-service",
        b"i-7",
        b"refused",
        &hex(TRACE),
        &hex(PARENT),
        &hex(&parent[36..52]),
    ] {
        assert!(
            holds(&bodies, part),
            "{:?} was not exported",
            String::from_utf8_lossy(part)
        );
    }
    let requests = receiver.received.lock().unwrap();
    assert!(
        requests
            .iter()
            .all(|(headers, _)| headers["content-type"] == "application/x-protobuf")
    );
    assert!(requests.iter().all(|(headers, _)| headers["x-tenant"] == "t"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn trace_context_is_forwarded_without_an_exporter() {
    let receiver = Receiver::start().await;
    let endpoint = ("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.endpoint.as_str());
    for variables in [
        &[][..],
        &[endpoint, ("OTEL_SDK_DISABLED", "true")],
        &[endpoint, ("OTEL_TRACES_EXPORTER", "none")],
        &[endpoint, ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")],
    ] {
        let program = serve(&[], &[&[("TEST_SECRET", "s")], variables].concat());
        let handed_on = traced(&program, "01").await;
        assert_eq!(handed_on["traceparent"], format!("00-{TRACE}-{PARENT}-01"));
        assert_eq!(handed_on["tracestate"], "vendor=1");
        let (_, stderr) = stop(program).await;
        let is_refused = variables.iter().any(|(_, value)| *value == "grpc");
        assert_eq!(stderr.contains("traces are not exported"), is_refused, "{stderr}");
    }
    assert!(receiver.bodies().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_sampling_decision_of_the_caller_is_kept() {
    let receiver = Receiver::start().await;
    let variables = [
        ("TEST_SECRET", "s"),
        (
            "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
            &format!("{}/v1/traces", receiver.endpoint),
        ),
    ];
    let program = serve(&[], &variables);
    let handed_on = traced(&program, "00").await;
    assert!(handed_on["traceparent"].ends_with("-00"), "{handed_on:?}");
    stop(program).await;
    assert!(receiver.bodies().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_unreachable_collector_does_not_affect_calls() {
    let closed = TcpListener::bind("127.0.0.1:0")
        .await
        .unwrap()
        .local_addr()
        .unwrap();
    let endpoint = format!("http://{closed}");
    let program = serve(
        &[],
        &[("TEST_SECRET", "s"), ("OTEL_EXPORTER_OTLP_ENDPOINT", &endpoint)],
    );
    let answer = Client::connect(program.address)
        .await
        .post(HEAR, &call("a", "good"))
        .await;
    assert_eq!(answer.status, 200);
    stop(program).await;
}

/// Values that must appear only in responses to the caller.
const UNSPEAKABLE: [&str; 6] = [
    "hunter-secret-1",
    "input-word-2",
    "2-drow-tupni",
    "setting-word-3",
    "token-word-4",
    "query-word-5",
];

/// Calls with every outcome, each with values that must not be exported.
async fn send_all_calls(program: &Program) {
    let bodies = ["good", "refused", "crashed", "nonsense"].map(|ending| {
        json!({
            "invocationId": "i-9",
            "settings": {"values": {"setting": "setting-word-3"}},
            "inputs": {"text": "input-word-2", "ending": ending},
        })
        .to_string()
    });
    let broken = r#"{"inputs": {"text": "input-word-2", "#.to_owned();
    let authorization = ("authorization", "Bearer token-word-4");
    for body in bodies.iter().chain([&broken]) {
        for (target, content_type) in [
            (HEAR, "application/json"),
            ("/skills/process.hear@1.2?q=query-word-5", "application/json"),
            ("/skills/input-word-2@1", "application/json"),
            (HEAR, "text/input-word-2"),
            ("/input-word-2", "application/json"),
        ] {
            let headers = [
                authorization,
                ("content-type", content_type),
                ("cookie", "token-word-4"),
            ];
            let mut client = Client::connect(program.address).await;
            client.send(request("POST", target, &headers, body)).await;
            client.receive().await;
        }
    }
    // A request that is not HTTP, and one whose body never ends.
    let mut client = Client::connect(program.address).await;
    client.send("POST token-word-4 \u{1}input-word-2\r\n\r\n").await;
    client.closed().await;
    let mut client = Client::connect(program.address).await;
    client
        .send(format!(
            "POST {HEAR} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99\r\n\r\ninput-word-2"
        ))
        .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn caller_data_and_secrets_are_not_exported() {
    let receiver = Receiver::start().await;
    let issuer = TcpListener::bind("127.0.0.1:0")
        .await
        .unwrap()
        .local_addr()
        .unwrap();
    let keys = format!("http://{issuer}/keys");
    for (anonymous, level) in [(true, "info"), (true, "trace"), (false, "trace")] {
        let mut arguments = vec!["serve", "http", "--port", "0", "--drain-seconds", "0"];
        if anonymous {
            arguments.push("--allow-anonymous");
        }
        let variables = [
            ("RUST_LOG", level),
            ("TEST_SECRET", "hunter-secret-1"),
            ("OTEL_EXPORTER_OTLP_ENDPOINT", &receiver.endpoint),
            ("SKILL_SDK_IAM_ISSUER", "http://issuer.example"),
            ("SKILL_SDK_AUDIENCE", "skills"),
            ("SKILL_SDK_JWKS_URL", &keys),
        ];
        let program = Program::serve(BINARY, &arguments, &variables);
        send_all_calls(&program).await;
        let metrics = Client::connect(program.address)
            .await
            .get("GET", "/metrics")
            .await;
        let ready = Client::connect(program.address).await.get("GET", "/readyz").await;
        let document = Client::connect(program.address)
            .await
            .get("GET", "/openapi.json")
            .await;
        if anonymous {
            assert!(
                metrics
                    .body
                    .contains("skill_sdk_calls_total{skill=\"process.hear@1.2\"} 8\n"),
                "{metrics:?}"
            );
            assert!(document.body.contains("process.hear@1.2"));
        }
        let (stdout, stderr) = stop(program).await;
        let traces = String::from_utf8_lossy(&receiver.bodies()).into_owned();
        if anonymous {
            assert!(stderr.contains("i-9") && traces.contains("i-9"), "calls are told");
        }
        for word in UNSPEAKABLE {
            for (place, text) in [
                ("standard output", &stdout),
                ("standard error", &stderr),
                ("metrics", &metrics.body),
                ("readiness", &ready.body),
                ("document", &document.body),
                ("traces", &traces),
            ] {
                let line = text.lines().find(|line| line.contains(word));
                assert_eq!(line, None, "{word} is in {place} at {level}");
            }
        }
    }
}
