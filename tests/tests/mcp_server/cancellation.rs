//! Progress, cancellation, timeouts, and calls that block their threads.

use std::time::Instant;

use serde_json::{Value, json};
use skill_sdk::mcp::http::McpHttpServer;
use skill_sdk_tests::raw_http::Client as Connection;
use skill_sdk_tests::skill_events::{SkillEvent, SkillEvents};

use super::client::{Client, Server, Times, block_on, call, http, mcp_server, request};

#[test]
fn progress_is_sent_on_request_and_never_after_the_result() {
    let mut client = Client::legacy();
    client.act(1, "progress", &Value::Null);
    assert_eq!(client.take()["id"], 1);
    for token in [json!("p"), json!(7)] {
        let invocation = format!("progress-{token}");
        let mut events = SkillEvents::of_call(&invocation);
        let meta = json!({"progressToken": token, "skill/invocationId": invocation});
        client.act(2, "progress", &meta);
        let report = |progress: Value| json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": progress});
        assert_eq!(
            client.take(),
            report(json!({"progressToken": token, "progress": 1, "total": 2, "message": "half"}))
        );
        assert_eq!(
            client.take(),
            report(json!({"progressToken": token, "progress": 1, "total": 2, "message": "back"}))
        );
        assert_eq!(
            client.take(),
            report(json!({"progressToken": token, "progress": 2}))
        );
        assert_eq!(client.take()["id"], 2);
        let context = block_on(events.started());
        context.progress(3.0, None, "too late");
    }
    client.act(3, "progress", &json!({"progressToken": {"not": "a token"}}));
    assert_eq!(client.take()["id"], 3);
    assert_eq!(client.end(), Vec::<Value>::new());
}

#[test]
fn a_cancelled_call_gets_no_response() {
    let mut client = Client::legacy();
    for (tool, arguments) in [("mcp.act", json!({"action": "hang"})), ("mcp.block", json!({}))] {
        let mut times = Times::default();
        while let Some(attempt) = times.next() {
            let invocation = format!("cancel-{tool}-{attempt}");
            let mut events = SkillEvents::of_call(&invocation);
            client.send(call(
                1,
                tool,
                &arguments,
                &json!({"skill/invocationId": invocation, "progressToken": tool}),
            ));
            let context = block_on(events.started());
            context.progress(0.5, None, "in time");
            loop {
                let report = client.take();
                assert_eq!(report["params"]["progressToken"], tool);
                if report["params"]["message"] == "in time" {
                    break;
                }
            }
            let start = Instant::now();
            client.cancel(1);
            block_on(context.cancelled());
            times.add(start.elapsed());
            assert!(matches!(
                block_on(events.next()),
                SkillEvent::Dropped | SkillEvent::Ended
            ));
            context.progress(1.0, None, "too late");
        }
        assert!(times.are_short(), "{tool}: {times:?}");
    }
    client.act(2, "a", &Value::Null);
    assert_eq!(client.take()["id"], 2);
    assert_eq!(client.end(), Vec::<Value>::new());
}

#[test]
fn blocking_calls_do_not_delay_others() {
    let mut client = Client::legacy();
    let mut all = Vec::new();
    for (number, tool) in ["mcp.block"; 3].into_iter().enumerate() {
        let invocation = format!("keep-{number}");
        let mut events = SkillEvents::of_call(&invocation);
        client.send(call(
            number,
            tool,
            &json!({}),
            &json!({"skill/invocationId": invocation}),
        ));
        block_on(events.started());
        all.push(events);
    }
    // If a call waited for them, its response would take until their timeout of 20 s.
    for id in 100..200 {
        client.act(id, "a", &Value::Null);
        assert_eq!(client.take()["id"], id);
    }
    client.cancel(0);
    client.cancel(1);
    client.cancel(2);
}

#[tokio::test]
async fn a_session_can_only_cancel_its_own_calls() {
    let server = Server::of(McpHttpServer::anonymous(mcp_server()).sessions(true)).await;
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {"roots": {}}, "clientInfo": {"name": "t", "version": "1"}});
    let open = async || {
        let opened = server.post(&request(0, "initialize", &params)).await;
        opened.header("mcp-session-id").to_owned()
    };
    let (session, other) = (open().await, open().await);
    let cancel = |id: &Value| {
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}})
            .to_string()
    };
    // With and without a stream, for asynchronous and blocking calls.
    for (number, (id, tool, arguments, accept)) in [
        (
            json!(1),
            "mcp.act",
            json!({"action": "hang"}),
            "application/json, text/event-stream",
        ),
        (
            json!("a"),
            "mcp.act",
            json!({"action": "hang"}),
            "application/json",
        ),
        (json!(1), "mcp.block", json!({}), "application/json"),
        (
            json!(2),
            "mcp.block",
            json!({}),
            "application/json, text/event-stream",
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let mut times = Times::default();
        while let Some(attempt) = times.next() {
            let invocation = format!("mcp-session-cancels-{number}-{attempt}");
            let mut events = SkillEvents::of_call(&invocation);
            let message = call(
                id.clone(),
                tool,
                &arguments,
                &json!({"skill/invocationId": invocation}),
            );
            let mut calling = Connection::connect(server.address).await;
            calling
                .send(http(
                    "POST",
                    "/mcp",
                    &[("Mcp-Session-Id", &session), ("Accept", accept)],
                    &message,
                ))
                .await;
            let context = events.started().await;
            for (name, id) in [(&other, &id), (&session, &json!("other"))] {
                let answer = server.post_with(&cancel(id), &[("Mcp-Session-Id", name)]).await;
                assert_eq!(answer.status, 202);
                assert!(!context.is_cancelled());
            }
            assert_eq!(server.post(&cancel(&id)).await.status, 202);
            assert!(!context.is_cancelled(), "without a session the call is not found");
            let gone = server
                .post_with(&cancel(&id), &[("Mcp-Session-Id", "gone")])
                .await;
            assert_eq!(gone.status, 404);
            let start = Instant::now();
            let answer = server
                .post_with(&cancel(&id), &[("Mcp-Session-Id", &session)])
                .await;
            assert_eq!(answer.status, 202);
            context.cancelled().await;
            times.add(start.elapsed());
            events.next().await;
            let answer = calling.receive().await;
            assert_eq!((answer.status, &*answer.body), (202, ""), "{number}");
        }
        assert!(times.are_short(), "{number}: {times:?}");
    }
}
