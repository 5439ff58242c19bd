//! `tools/list`.

use serde_json::{Value, json};
use skill_sdk::context::States;
use skill_sdk::mcp::{McpError, McpServer, StdioOptions, ToolSchemas};
use skill_sdk::pipeline::SkillSet;
use skill_sdk::skill;

use super::client::{Client, host, modern, request};

fn list(host: McpServer, params: &Value) -> Value {
    let mut client = Client::of(host, StdioOptions::default());
    client.initialize("2025-11-25");
    client.send(request(1, "tools/list", params));
    client.take()
}

fn names(answer: &Value) -> Vec<&str> {
    let tools = answer["result"]["tools"].as_array().unwrap();
    tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

#[test]
fn a_tool_says_all_about_its_skill() {
    let answer = list(host(), &json!({}));
    assert_eq!(
        names(&answer),
        [
            "mcp.act",
            "mcp.ask",
            "mcp.block",
            "mcp.briefly",
            "mcp.broken-lines",
            "mcp.large",
            "mcp.optional",
            "mcp.read",
            "mcp.routed",
            "mcp.write"
        ]
    );
    assert!(answer["result"].get("nextCursor").is_none() && answer["result"].get("ttlMs").is_none());
    let tool = |name: &str| {
        let tools = answer["result"]["tools"].as_array().unwrap();
        tools.iter().find(|tool| tool["name"] == name).unwrap()
    };
    let act = tool("mcp.act");
    assert_eq!(act["description"], "Does what the input asks for.");
    assert_eq!(act["inputSchema"]["properties"]["action"]["type"], "string");
    assert_eq!(act["outputSchema"]["properties"]["result"]["type"], "string");
    assert_eq!(tool("mcp.write")["title"], "Write it");
    for (name, read_only, destructive, idempotent, open_world) in [
        ("mcp.act", true, false, true, false),
        ("mcp.optional", true, false, false, true),
        ("mcp.read", true, false, true, true),
        ("mcp.write", false, true, true, true),
    ] {
        assert_eq!(
            tool(name)["annotations"],
            json!({
                "readOnlyHint": read_only, "destructiveHint": destructive,
                "idempotentHint": idempotent, "openWorldHint": open_world,
            }),
            "{name}"
        );
    }
    for tool in answer["result"]["tools"].as_array().unwrap() {
        assert!(tool["inputSchema"]["properties"].is_object(), "{tool}");
        assert_eq!(tool["inputSchema"]["type"], "object", "{tool}");
        assert_eq!(tool["outputSchema"]["type"], "object", "{tool}");
    }
}

#[test]
fn the_new_era_says_how_long_it_counts() {
    let answer = list(host(), &json!({"_meta": modern()}));
    let result = &answer["result"];
    assert_eq!(result["resultType"], "complete");
    assert_eq!(result["cacheScope"], "public");
    assert!(result["ttlMs"].as_u64().unwrap() > 0);
    assert_eq!(
        result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"],
        "skills"
    );
}

#[test]
fn pages() {
    let mut client = Client::of(host().page(3), StdioOptions::default());
    client.initialize("2025-11-25");
    let (mut cursor, mut all, mut pages) = (Value::Null, Vec::new(), 0);
    loop {
        let params = if cursor.is_null() {
            json!({})
        } else {
            json!({"cursor": cursor})
        };
        client.send(request(1, "tools/list", &params));
        let answer = client.take();
        all.extend(names(&answer).into_iter().map(str::to_owned));
        pages += 1;
        match answer["result"].get("nextCursor") {
            None => break,
            Some(next) => cursor = next.clone(),
        }
    }
    assert_eq!((pages, all.len()), (4, 10));
    assert!(all.is_sorted());
    // A cursor of another list, and what is none.
    let other = list(host().page(3), &json!({"cursor": cursor}));
    assert_eq!(names(&other).len(), 1);
    for cursor in ["", "3", "3-0", "zzz", "ffffffffffffffffffff-0"] {
        client.send(request(2, "tools/list", &json!({"cursor": cursor})));
        assert_eq!(client.wrong().1, -32602, "{cursor}");
    }
    client.send(request(3, "tools/list", &json!({"cursor": 5})));
    assert_eq!(client.wrong().1, -32602);
}

#[test]
fn schemas_are_served_as_they_are_asked_for() {
    let schema = |schemas: ToolSchemas| {
        let answer = list(host().tool_schemas(schemas).unwrap(), &json!({}));
        let tools = answer["result"]["tools"].as_array().unwrap().clone();
        let optional = tools
            .into_iter()
            .find(|tool| tool["name"] == "mcp.optional")
            .unwrap();
        optional["inputSchema"]["properties"]["text"]["type"].clone()
    };
    assert_eq!(schema(ToolSchemas::Portable), "string");
    assert_eq!(schema(ToolSchemas::Contract), json!(["string", "null"]));
}

/// The newer one.
#[skill("mcp.act", version = "2", side_effects = "none", risk = "low")]
fn newer() {}

#[test]
fn two_versions_of_one_name_are_an_error() {
    let host = SkillSet::with_states([super::act::SKILL, newer::SKILL], States::default()).unwrap();
    let Err(McpError::TwoVersions { references }) = McpServer::new(host) else {
        panic!("two tools of one name");
    };
    assert_eq!(references, ["mcp.act@1", "mcp.act@2"]);
}
