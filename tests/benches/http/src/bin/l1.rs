//! The same call without the SDK: axum and typed serde, no validation.

use axum::routing::post;
use axum::{Json, Router};
use serde::Deserialize;
use serde_json::Value;
use skill_sdk_bench_http::model::{Order, Quote, quote};
use skill_sdk_bench_http::start;

/// The body of a call.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Envelope {
    #[serde(default, rename = "invocationId")]
    _invocation_id: Option<String>,
    #[serde(default, rename = "idempotencyKey")]
    _idempotency_key: Option<String>,
    #[serde(default, rename = "settings")]
    _settings: Option<Value>,
    inputs: Order,
}

async fn invoke(Json(envelope): Json<Envelope>) -> Json<Quote> {
    Json(quote(envelope.inputs))
}

fn main() -> std::io::Result<()> {
    start::run(async {
        let app = Router::new().route("/skills/{reference}", post(invoke));
        axum::serve(start::listen().await?, app).await
    })
}
