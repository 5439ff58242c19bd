//! Clients that disconnect.

use serde_json::json;
use skill_sdk_tests::raw_http::{Client, request};
use tokio::io::AsyncReadExt;
use tokio::net::TcpListener;

use super::serve;

const WAIT: &str = "/skills/process.wait@1";

/// The number of calls. Every second client disconnects.
const MANY: usize = 20;

#[tokio::test]
async fn disconnects_drop_waiting_skills() {
    let program = serve(&[], &[]);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let body = json!({"inputs": {"address": listener.local_addr().unwrap().to_string()}}).to_string();
    for call in 0..MANY {
        let mut caller = Client::connect(program.address).await;
        caller.send(request("POST", WAIT, &[], &body)).await;
        let (mut held, _) = listener.accept().await.unwrap();
        if call % 2 == 0 {
            drop(held);
            assert_eq!(caller.receive().await.status, 200);
            continue;
        }
        drop(caller);
        assert_eq!(held.read(&mut [0]).await.unwrap(), 0, "call {call}");
    }
}
