//! Asynchronous skills that keep their threads, on a runtime that has one for all that it serves.

use serde_json::json;
use skill_sdk::{SkillContext, skill};
use skill_sdk_tests::signs::{self, Sign, Signs};
use skill_sdk_tests::wire::{Server, request, until};

use super::{act, refused};

const ACT: &str = "/skills/http.act@1";
const QUICK: &str = r#"{"inputs":{"action":"a"}}"#;
const STUCK: &str = "/skills/http.stuck@1";

/// Blocks where it should wait, whatever it is told, until its test opens the gate.
#[skill("http.stuck", version = "1", side_effects = "none", risk = "low", timeout = 1)]
async fn stuck(ctx: &SkillContext) {
    signs::give(ctx, Sign::Started(ctx.clone()));
    signs::block_at_gate(ctx);
    signs::give(ctx, Sign::Ended);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn one_that_blocks_is_answered_in_time_and_stops_nobody() {
    let server = Server::of(&[act::SKILL, stuck::SKILL]).await;
    // That it did so before is no news for the second call.
    for invocation in ["stuck-1", "stuck-2"] {
        let mut signs = Signs::of_call(invocation);
        let mut client = server.connect().await;
        let body = json!({"invocationId": invocation, "inputs": {}}).to_string();
        client.send(request("POST", STUCK, &[], &body)).await;
        let context = signs.started().await;
        let mut other = server.connect().await;
        assert_eq!(other.post(ACT, QUICK).await.status, 200);
        let answer = client.receive().await;
        assert_eq!(refused(&answer, 503), ("timeout".to_owned(), true));
        assert!(context.is_cancelled());
        let abandoned = async |number: u8| {
            let metrics = server.connect().await.get("GET", "/metrics").await.body;
            metrics.contains(&format!(
                "skill_sdk_calls_abandoned{{skill=\"http.stuck@1\"}} {number}\n"
            ))
        };
        assert!(abandoned(1).await, "its thread goes on");
        signs::open_gate(invocation);
        signs.ended().await;
        until("the thread is over", async || abandoned(0).await).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn one_that_waits_is_dropped_with_its_caller() {
    let server = Server::of(&[act::SKILL]).await;
    for (invocation, quick) in [("unseen", false), ("quick", true)] {
        if quick {
            assert_eq!(server.connect().await.post(ACT, QUICK).await.status, 200);
        }
        let mut signs = Signs::of_call(invocation);
        let mut client = server.connect().await;
        let body = json!({"invocationId": invocation, "inputs": {"action": "wait"}}).to_string();
        client.send(request("POST", ACT, &[], &body)).await;
        signs.started().await;
        drop(client);
        signs.dropped().await;
    }
}
