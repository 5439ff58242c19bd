//! Arguments that callers mirror in headers, over a real socket.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use skill_sdk::context::States;
use skill_sdk::mcp::McpServer;
use skill_sdk::mcp::http::McpHttpServer;
use skill_sdk::pipeline::SkillSet;
use skill_sdk::skill;
use skill_sdk_tests::raw_http::Response;

use super::client::{Server, call, protocol_error, stateless_meta};

/// A place.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[schemars(inline)]
struct Place {
    #[schemars(extend("x-mcp-header" = "Zone"))]
    zone: Option<String>,
}

/// Takes arguments that are mirrored in headers.
#[skill("mcp.mirrored", version = "1", side_effects = "none", risk = "low")]
fn mirrored(
    #[schemars(extend("x-mcp-header" = "Region"))] region: Option<String>,
    #[schemars(extend("x-mcp-header" = "Count"))] count: Option<i64>,
    #[schemars(extend("x-mcp-header" = "Dry-Run"))] dry: Option<bool>,
    place: Option<Place>,
    plain: Option<String>,
) -> String {
    format!("{region:?} {count:?} {dry:?} {} {plain:?}", place.is_some())
}

async fn server() -> Server {
    let host = SkillSet::with_states([mirrored::SKILL], States::default()).unwrap();
    Server::of(McpHttpServer::anonymous(McpServer::new(host).unwrap())).await
}

async fn post(server: &Server, arguments: &Value, own: &[(&str, &str)]) -> Response {
    let mut headers = vec![
        ("MCP-Protocol-Version", "2026-07-28"),
        ("Mcp-Method", "tools/call"),
        ("Mcp-Name", "mcp.mirrored"),
    ];
    headers.extend(own);
    let message = call(1, "mcp.mirrored", arguments, &stateless_meta());
    server.post_with(&message, &headers).await
}

#[tokio::test]
async fn matching_headers_are_accepted() {
    let server = server().await;
    let cases: &[(Value, &[(&str, &str)])] = &[
        (json!({}), &[]),
        // Null is the same as a missing argument.
        (
            json!({"region": null, "count": null, "dry": null, "place": null}),
            &[],
        ),
        (json!({"region": "north"}), &[("Mcp-Param-Region", "north")]),
        (json!({"region": "a b"}), &[("mcp-param-REGION", "\t a b ")]),
        (json!({"region": ""}), &[("Mcp-Param-Region", "=?base64??=")]),
        (
            json!({"region": "Süd "}),
            &[("Mcp-Param-Region", "=?base64?U8O8ZCA=?=")],
        ),
        (
            json!({"region": "north"}),
            &[("Mcp-Param-Region", "=?base64?bm9ydGg=?=")],
        ),
        (
            json!({"region": "=?base64?literal?="}),
            &[("Mcp-Param-Region", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=")],
        ),
        (
            json!({"region": "l1\nl2"}),
            &[("Mcp-Param-Region", "=?base64?bDEKbDI=?=")],
        ),
        // The prefix of an encoded value is case-sensitive.
        (
            json!({"region": "=?BASE64?bm9ydGg=?="}),
            &[("Mcp-Param-Region", "=?BASE64?bm9ydGg=?=")],
        ),
        (json!({"region": "42"}), &[("Mcp-Param-Region", "42")]),
        (json!({"count": 42}), &[("Mcp-Param-Count", "42")]),
        (json!({"count": -7}), &[("Mcp-Param-Count", "-7")]),
        // Numbers are compared by value.
        (json!({"count": 42}), &[("Mcp-Param-Count", "42.0")]),
        (json!({"count": 42.0}), &[("Mcp-Param-Count", "42")]),
        (json!({"count": 0}), &[("Mcp-Param-Count", "=?base64?MA==?=")]),
        (
            json!({"count": 9_007_199_254_740_991_i64}),
            &[("Mcp-Param-Count", "9007199254740991")],
        ),
        (
            json!({"count": 9_007_199_254_740_993_i64}),
            &[("Mcp-Param-Count", "9007199254740993")],
        ),
        (json!({"dry": true}), &[("Mcp-Param-Dry-Run", "true")]),
        (json!({"dry": false}), &[("Mcp-Param-Dry-Run", "false")]),
        (json!({"place": {"zone": "z"}}), &[("Mcp-Param-Zone", "z")]),
        (json!({"place": {}}), &[]),
        // Other headers are ignored, also for arguments that are not mirrored.
        (json!({"plain": "p"}), &[]),
        (
            json!({"plain": "p"}),
            &[("Mcp-Param-Plain", "other"), ("Mcp-Param-Whatever", "x")],
        ),
        (
            json!({"region": "r", "count": 1, "dry": true, "place": {"zone": "z"}}),
            &[
                ("Mcp-Param-Zone", "z"),
                ("Mcp-Param-Dry-Run", "true"),
                ("Mcp-Param-Count", "1"),
                ("Mcp-Param-Region", "r"),
            ],
        ),
    ];
    for (arguments, headers) in cases {
        let answer = post(&server, arguments, headers).await;
        assert_eq!(answer.status, 200, "{arguments} {headers:?}: {}", answer.body);
        assert_eq!(
            answer.json()["result"]["isError"],
            false,
            "{arguments} {headers:?}: {}",
            answer.body
        );
    }
}

/// Arguments, headers, and a part of the error message.
type Refused = (Value, &'static [(&'static str, &'static str)], &'static str);

#[expect(clippy::too_many_lines, reason = "it is one table")]
fn refused() -> Vec<Refused> {
    vec![
        (json!({"region": "north"}), &[], "is missing: it repeats `region`"),
        (json!({"count": 0}), &[], "is missing: it repeats `count`"),
        (json!({"dry": false}), &[], "is missing: it repeats `dry`"),
        (
            json!({"place": {"zone": "z"}}),
            &[],
            "is missing: it repeats `place.zone`",
        ),
        (
            json!({}),
            &[("Mcp-Param-Region", "north")],
            "is there, and `region` is not",
        ),
        (
            json!({"region": null}),
            &[("Mcp-Param-Region", "null")],
            "is there, and `region` is not",
        ),
        (
            json!({"place": null}),
            &[("Mcp-Param-Zone", "z")],
            "is there, and `place.zone` is not",
        ),
        (
            json!({"region": "north"}),
            &[("Mcp-Param-Region", "south")],
            "differs from `region`",
        ),
        (
            json!({"region": "north"}),
            &[("Mcp-Param-Region", "North")],
            "differs from `region`",
        ),
        (
            json!({"region": " north"}),
            &[("Mcp-Param-Region", " north")],
            "differs from `region`",
        ),
        (
            json!({"region": "42"}),
            &[("Mcp-Param-Region", "42.0")],
            "differs from `region`",
        ),
        (
            json!({"region": "north"}),
            &[("Mcp-Param-Region", "=?base64?c291dGg=?=")],
            "differs from `region`",
        ),
        (
            json!({"region": "north"}),
            &[("Mcp-Param-Region", "=?base64?%%%?=")],
            "is not valid base64",
        ),
        (
            json!({"region": "north"}),
            &[("Mcp-Param-Region", "=?base64?/w==?=")],
            "is not valid base64",
        ),
        (
            json!({"region": "Süd"}),
            &[("Mcp-Param-Region", "Süd")],
            "has characters that headers must not have",
        ),
        (
            json!({"count": 42}),
            &[("Mcp-Param-Count", "43")],
            "differs from `count`",
        ),
        (
            json!({"count": 42}),
            &[("Mcp-Param-Count", "+42")],
            "differs from `count`",
        ),
        (
            json!({"count": 42}),
            &[("Mcp-Param-Count", "0x2a")],
            "differs from `count`",
        ),
        (
            json!({"count": 42}),
            &[("Mcp-Param-Count", "\"42\"")],
            "differs from `count`",
        ),
        // Equal only after rounding to a double, so not equal.
        (
            json!({"count": 42}),
            &[("Mcp-Param-Count", "42.00000000000000001")],
            "differs from `count`",
        ),
        (
            json!({"count": 0}),
            &[("Mcp-Param-Count", "1e-400")],
            "differs from `count`",
        ),
        (
            json!({"count": 42}),
            &[("Mcp-Param-Count", "042")],
            "differs from `count`",
        ),
        (
            json!({"count": 42}),
            &[("Mcp-Param-Count", "042.0")],
            "differs from `count`",
        ),
        (
            json!({"count": 42}),
            &[("Mcp-Param-Count", "42.")],
            "differs from `count`",
        ),
        (json!({"count": 42}), &[("Mcp-Param-Count", "")], "is missing"),
        // Integers beyond 2^53 are compared exactly.
        (
            json!({"count": 9_007_199_254_740_993_i64}),
            &[("Mcp-Param-Count", "9007199254740992")],
            "differs from `count`",
        ),
        (
            json!({"dry": true}),
            &[("Mcp-Param-Dry-Run", "True")],
            "differs from `dry`",
        ),
        (
            json!({"dry": true}),
            &[("Mcp-Param-Dry-Run", "1")],
            "differs from `dry`",
        ),
        (
            json!({"region": "north"}),
            &[("Mcp-Param-Region", "north"), ("Mcp-Param-Region", "north")],
            "is repeated",
        ),
        (
            json!({"region": "north"}),
            &[("Mcp-Param-Region", "north"), ("mcp-param-region", "south")],
            "is repeated",
        ),
    ]
}

#[tokio::test]
async fn mismatching_headers_are_rejected() {
    let server = server().await;
    for (arguments, headers, expected) in &refused() {
        let answer = post(&server, arguments, headers).await;
        let (id, code, message) = protocol_error(&answer.json());
        assert_eq!((answer.status, code), (400, -32020), "{arguments} {headers:?}");
        assert_eq!(id, 1);
        assert!(message.contains(expected), "{arguments} {headers:?}: {message}");
    }
}

#[tokio::test]
async fn initialize_based_clients_need_no_mirrored_headers() {
    let server = server().await;
    let message = call(1, "mcp.mirrored", &json!({"region": "north"}), &Value::Null);
    let version = ("MCP-Protocol-Version", "2025-11-25");
    for headers in [
        vec![],
        vec![version],
        vec![version, ("Mcp-Param-Region", "south")],
    ] {
        let answer = server.post_with(&message, &headers).await;
        assert_eq!(
            answer.json()["result"]["isError"],
            false,
            "{headers:?}: {}",
            answer.body
        );
    }
}
