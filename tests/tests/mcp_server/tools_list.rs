//! `tools/list`.

use serde_json::{Value, json};
use skill_sdk::context::States;
use skill_sdk::mcp::{McpError, McpServer, StdioOptions, ToolNames, ToolOptions, ToolSchemas};
use skill_sdk::pipeline::SkillSet;
use skill_sdk::{Environment, Skill, skill};

use super::client::{Client, call, mcp_server, request, stateless_meta, tool_failure};

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
fn a_tool_describes_its_skill() {
    let answer = list(mcp_server(), &json!({}));
    assert_eq!(
        names(&answer),
        [
            "mcp_act",
            "mcp_ask",
            "mcp_block",
            "mcp_briefly",
            "mcp_broken-lines",
            "mcp_large",
            "mcp_optional",
            "mcp_read",
            "mcp_routed",
            "mcp_write"
        ]
    );
    assert!(answer["result"].get("nextCursor").is_none() && answer["result"].get("ttlMs").is_none());
    let tool = |name: &str| {
        let tools = answer["result"]["tools"].as_array().unwrap();
        tools.iter().find(|tool| tool["name"] == name).unwrap()
    };
    let act = tool("mcp_act");
    assert_eq!(act["description"], "Does what the input says.");
    assert_eq!(act["inputSchema"]["properties"]["action"]["type"], "string");
    assert_eq!(act["outputSchema"]["properties"]["result"]["type"], "string");
    assert_eq!(tool("mcp_write")["title"], "Write it");
    for (name, read_only, destructive, idempotent, open_world) in [
        ("mcp_act", true, false, true, false),
        ("mcp_optional", true, false, false, true),
        ("mcp_read", true, false, true, true),
        ("mcp_write", false, true, true, true),
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
fn the_stateless_revision_has_cache_hints() {
    let answer = list(mcp_server(), &json!({"_meta": stateless_meta()}));
    let result = &answer["result"];
    assert_eq!(result["resultType"], "complete");
    assert_eq!(result["cacheScope"], "public");
    assert!(result["ttlMs"].as_u64().unwrap() > 0);
    assert_eq!(
        result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"],
        "skill-sdk-tests"
    );
}

#[test]
fn the_list_is_paginated() {
    let mut client = Client::of(mcp_server().page(3), StdioOptions::default());
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
    // A cursor of another list, and invalid cursors.
    let other = list(mcp_server().page(3), &json!({"cursor": cursor}));
    assert_eq!(names(&other).len(), 1);
    for cursor in ["", "3", "3-0", "zzz", "ffffffffffffffffffff-0"] {
        client.send(request(2, "tools/list", &json!({"cursor": cursor})));
        assert_eq!(client.protocol_error().1, -32602, "{cursor}");
    }
    client.send(request(3, "tools/list", &json!({"cursor": 5})));
    assert_eq!(client.protocol_error().1, -32602);
}

#[test]
fn schemas_have_the_configured_form() {
    let schema = |schemas: ToolSchemas| {
        let mut options = ToolOptions::default();
        options.schemas = schemas;
        let answer = list(served(super::SKILLS, options).unwrap(), &json!({}));
        let tools = answer["result"]["tools"].as_array().unwrap().clone();
        let optional = tools
            .into_iter()
            .find(|tool| tool["name"] == "mcp_optional")
            .unwrap();
        optional["inputSchema"]["properties"]["text"]["type"].clone()
    };
    assert_eq!(schema(ToolSchemas::Portable), "string");
    assert_eq!(schema(ToolSchemas::Contract), json!(["string", "null"]));
}

/// The newer version.
#[skill("mcp.act", version = "10", side_effects = "none", risk = "low")]
fn newer() -> String {
    "newer".to_owned()
}

/// The older version.
#[skill("mcp.act", version = "9", side_effects = "none", risk = "low")]
fn older() -> String {
    "older".to_owned()
}

/// Its name equals the tool name of another skill.
#[skill("mcp_act", version = "1", side_effects = "none", risk = "low")]
fn same() {}

/// Its contract declares the tool name.
#[skill(
    "mcp.declared", version = "1", side_effects = "none", risk = "low",
    implementation = mcp("https://skills.example.com/mcp", tool = "by_contract")
)]
fn declared() -> String {
    "declared".to_owned()
}

const NAMED: &[&Skill] = &[newer::SKILL, older::SKILL, declared::SKILL];

fn served(skills: &[&'static Skill], options: ToolOptions) -> Result<McpServer, McpError> {
    let skills = SkillSet::with_states(skills.iter().copied(), States::default()).unwrap();
    McpServer::with_options(skills, Environment::from_vars([]), options)
}

fn options(names: ToolNames, all_versions: bool) -> ToolOptions {
    let mut options = ToolOptions::default();
    (options.names, options.all_versions) = (names, all_versions);
    options
}

#[test]
fn tools_have_the_configured_names() {
    for (style, all, expected) in [
        (ToolNames::Portable, false, &["by_contract", "mcp_act"][..]),
        (
            ToolNames::Portable,
            true,
            &["by_contract", "mcp_act", "mcp_act_v9"],
        ),
        (ToolNames::Contract, false, &["by_contract", "mcp.act"]),
        (
            ToolNames::Contract,
            true,
            &["by_contract", "mcp.act", "mcp.act_v9"],
        ),
    ] {
        let answer = list(served(NAMED, options(style, all)).unwrap(), &json!({}));
        assert_eq!(names(&answer), expected, "{style:?} {all}");
    }
}

#[test]
fn calls_can_use_every_name_of_a_skill() {
    let all = [
        ("mcp_act", "newer"),
        ("mcp.act", "newer"),
        ("mcp.act@10", "newer"),
        ("mcp.act@9", "older"),
        ("by_contract", "declared"),
        ("mcp.declared", "declared"),
        ("mcp.declared@1", "declared"),
    ];
    for style in [ToolNames::Portable, ToolNames::Contract] {
        for with_older in [false, true] {
            let host = served(NAMED, options(style, with_older)).unwrap();
            let mut client = Client::of(host, StdioOptions::default());
            client.initialize("2025-11-25");
            for (name, result) in all {
                client.send(call(1, name, &json!({}), &Value::Null));
                assert_eq!(
                    client.take()["result"]["structuredContent"]["result"],
                    result,
                    "{name}"
                );
            }
        }
    }
}

#[test]
fn an_unknown_tool_gets_a_suggestion() {
    let host = served(NAMED, ToolOptions::default()).unwrap();
    let mut client = Client::of(host, StdioOptions::default());
    client.initialize("2025-11-25");
    for (name, says) in [
        ("mcp_acts", "mcp_acts is not hosted here; did you mean mcp_act?"),
        (
            "mcp.act@3",
            "mcp.act@3 is not hosted here; there is mcp.act@10, mcp.act@9",
        ),
        ("by", "by is not hosted here; did you mean by_contract?"),
        ("no.such", "no.such is not hosted here"),
    ] {
        client.send(call(1, name, &json!({}), &Value::Null));
        let answer = client.take();
        assert_eq!(tool_failure(&answer).0, "skill_not_hosted");
        let text = answer["result"]["content"][0]["text"].as_str().unwrap();
        let error: Value = serde_json::from_str(text).unwrap();
        assert_eq!(error["error"]["message"], says);
    }
}

#[test]
fn duplicate_tool_names_are_an_error() {
    let skills = [same::SKILL, older::SKILL, newer::SKILL];
    let Err(error) = served(&skills, ToolOptions::default()) else {
        panic!("duplicate tool names");
    };
    let McpError::OneTool { references } = &error else {
        panic!("{error}");
    };
    assert_eq!(*references, ["mcp.act@10", "mcp_act@1"]);
    assert!(
        error
            .to_string()
            .starts_with("mcp.act@10 and mcp_act@1 would be one tool"),
        "{error}"
    );
    assert!(served(&skills, options(ToolNames::Contract, true)).is_ok());
}
