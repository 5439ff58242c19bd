//! `GET /openapi.json`: the skills of a host as an OpenAPI 3.1 document.

mod errors;
mod responses;
mod schemas;

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use self::schemas::Schemas;
use super::path_of;
use crate::contract::{Idempotency, Implementation};
use crate::pipeline::{Runnable, SkillSet};

/// The document without its `servers`, which depend on where it is read.
pub(super) fn document(host: &SkillSet, checks_callers: bool) -> Map<String, Value> {
    let mut schemas = Schemas::default();
    schemas.insert("Error", errors::schema());
    let mut paths = Map::new();
    let mut names = BTreeSet::new();
    for runnable in host.iter() {
        let name = unique(runnable, &mut names);
        let call = call(runnable, &name, checks_callers, &mut schemas);
        let path = path_of(runnable.skill().reference());
        // Braces mean something else in these paths; `path_of` left none.
        paths.insert(path, json!({"post": call}));
    }
    paths.extend(operations(checks_callers));
    let mut components = Map::new();
    components.insert("schemas".into(), schemas.into_value());
    components.insert("responses".into(), errors::responses());
    components.insert("headers".into(), responses::headers());
    if checks_callers {
        let scheme = json!({"type": "http", "scheme": "bearer", "bearerFormat": "JWT"});
        components.insert("securitySchemes".into(), json!({"bearer": scheme}));
    }
    let mut document = Map::new();
    document.insert("openapi".into(), "3.1.0".into());
    document.insert(
        "info".into(),
        json!({
            "title": "Skills",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "The skills of one host. `info.version` is that of the host; each skill has its own.",
        }),
    );
    document.insert("paths".into(), paths.into());
    document.insert("components".into(), components.into());
    document
}

/// The name of a skill as a word of programs: `git.merge@2` is `GitMergeV2`.
fn unique(runnable: &Runnable, taken: &mut BTreeSet<String>) -> String {
    let skill = runnable.skill();
    let text = format!("{} v{}", skill.name(), skill.version());
    let mut word = String::new();
    let mut begins = true;
    for character in text.chars() {
        if !character.is_ascii_alphanumeric() {
            begins = true;
        } else if begins {
            word.push(character.to_ascii_uppercase());
            begins = false;
        } else {
            word.push(character);
        }
    }
    let word = if word.starts_with(|first: char| first.is_ascii_alphabetic()) {
        word
    } else {
        format!("Skill{word}")
    };
    // Names that differ in other characters only are told apart by a number.
    let mut name = word.clone();
    let mut number = 2;
    while !taken.insert(name.to_ascii_lowercase()) {
        name = format!("{word}N{number}");
        number += 1;
    }
    name
}

/// One skill as an operation.
fn call(runnable: &Runnable, name: &str, checks_callers: bool, schemas: &mut Schemas) -> Value {
    let described = runnable.described();
    let contract = described.contract();
    let metadata = described.metadata();
    let inputs = schemas.contract(&format!("{name}Inputs"), &contract.inputs);
    let outputs = schemas.contract(&format!("{name}Outputs"), &contract.outputs);
    let needs_key = contract.idempotency == Idempotency::Required;
    let request = schemas.insert(&format!("{name}Call"), request(&inputs, needs_key));
    let mut content = json!({"schema": request});
    let example = metadata.get("examples").and_then(|examples| examples.get(0));
    if let Some(inputs) = example.and_then(|example| example.get("inputs")) {
        let mut call = json!({"inputs": inputs});
        if needs_key {
            call["idempotencyKey"] = "example-1".into();
        }
        content["example"] = call;
    }
    let mut responses = Map::new();
    let attaches = runnable.skill().handler().attaches();
    responses.insert("200".into(), responses::success(&outputs, attaches));
    responses.extend(errors::of_calls(checks_callers));
    let mut call = Map::new();
    call.insert("operationId".into(), format!("call{name}").into());
    let summary = metadata.get("title").and_then(Value::as_str);
    let summary = summary.unwrap_or(runnable.skill().reference());
    call.insert("summary".into(), summary.into());
    let mut description = described.spec().description.clone();
    if let Some(instead) = metadata.get("deprecated").and_then(Value::as_str) {
        description += &format!("\n\nDeprecated: {instead}");
        call.insert("deprecated".into(), true.into());
    }
    call.insert("description".into(), description.into());
    if let Some(tags) = metadata
        .get("tags")
        .and_then(Value::as_array)
        .filter(|tags| !tags.is_empty())
    {
        call.insert("tags".into(), tags.clone().into());
    }
    if checks_callers {
        call.insert(
            "security".into(),
            json!([{"bearer": scopes(&contract.implementation)}]),
        );
    }
    call.insert(
        "requestBody".into(),
        json!({"required": true, "content": {"application/json": content}}),
    );
    call.insert("responses".into(), responses.into());
    call.insert(
        "x-skill".into(),
        json!({
            "ref": runnable.skill().reference(),
            "sideEffects": described.spec().side_effects.as_str(),
            "riskLevel": described.spec().risk.as_str(),
            "idempotency": contract.idempotency.as_str(),
            "timeoutSeconds": contract.timeout_seconds,
        }),
    );
    call.into()
}

/// The scopes that the contract asks of a caller.
fn scopes(implementation: &Implementation) -> Value {
    let document = json!(implementation);
    let scopes = document.pointer("/auth/scopes");
    scopes.cloned().unwrap_or_else(|| json!([]))
}

/// The body of a call.
fn request(inputs: &Value, needs_key: bool) -> Value {
    let key = if needs_key {
        json!({"type": "string", "description": "A repeat with the same key has no second effect."})
    } else {
        json!({"type": ["string", "null"], "description": "A repeat with the same key has no second effect."})
    };
    let required = if needs_key {
        json!(["inputs", "idempotencyKey"])
    } else {
        json!(["inputs"])
    };
    json!({
        "type": "object",
        "properties": {
            "inputs": inputs,
            "invocationId": {"type": ["string", "null"], "description": "The id of this call, for the log."},
            "idempotencyKey": key,
            "settings": {"type": ["object", "null"], "description": "The package settings: `{\"values\": {…}}`."},
        },
        "required": required,
    })
}

/// The routes that are no skills.
fn operations(checks_callers: bool) -> Map<String, Value> {
    let listed = json!({
        "type": "object",
        "properties": {"skills": {"type": "array", "items": {
            "type": "object",
            "properties": {
                "ref": {"type": "string"},
                "name": {"type": "string"},
                "version": {"type": "string"},
                "path": {"type": "string"},
            },
            "required": ["ref", "name", "version", "path"],
        }}},
        "required": ["skills"],
    });
    let status = json!({
        "type": "object",
        "properties": {"status": {"type": "string"}},
        "required": ["status"],
    });
    let get = |id: &str, summary: &str, media_type: &str, schema: &Value, guarded: bool| {
        let mut responses = Map::new();
        responses.insert(
            "200".into(),
            json!({"description": summary, "content": {media_type: {"schema": schema}}}),
        );
        responses.extend(errors::of_operations(
            guarded && checks_callers,
            id == "readiness",
        ));
        let mut get = json!({"operationId": id, "summary": summary, "responses": responses});
        if guarded && checks_callers {
            get["security"] = json!([{"bearer": []}]);
        }
        json!({"get": get})
    };
    let text = json!({"type": "string"});
    let mut paths = Map::new();
    let json = "application/json";
    paths.insert(
        "/skills".into(),
        get("listSkills", "The skills of this host.", json, &listed, true),
    );
    paths.insert(
        "/healthz".into(),
        get("health", "The program runs.", json, &status, false),
    );
    paths.insert(
        "/readyz".into(),
        get("readiness", "The host can do its work.", json, &status, false),
    );
    paths.insert(
        "/metrics".into(),
        get(
            "metrics",
            "What is counted, for Prometheus.",
            "text/plain",
            &text,
            true,
        ),
    );
    paths
}

#[cfg(test)]
mod tests;
