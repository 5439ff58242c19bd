//! The lower bound: axum with a constant response. It ignores the body.

use axum::Router;
use axum::body::Bytes;
use axum::http::header::CONTENT_TYPE;
use axum::routing::post;
use skill_sdk_bench_http::start;

fn main() -> std::io::Result<()> {
    start::run(async {
        let answer = |_: Bytes| async {
            (
                [(CONTENT_TYPE, "application/json")],
                r#"{"total":1.25,"items":[]}"#,
            )
        };
        let app = Router::new().route("/skills/{reference}", post(answer));
        axum::serve(start::listen().await?, app).await
    })
}
