//! `GET /openapi.json`: the skills of a host as an OpenAPI 3.1 document.

mod schemas;

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use self::schemas::{Schemas, free};
use super::path_of;
use crate::contract::Idempotency;
use crate::pipeline::{Runnable, SkillSet};

/// The errors of a host: the status, and when it comes. All have the one envelope.
const ERRORS: [(&str, &str); 10] = [
    ("400", "The body is not JSON, or has no object `inputs`."),
    ("401", "The token is missing or was rejected."),
    ("404", "The skill is not served here."),
    ("408", "The body did not come in time."),
    ("413", "The body is over the limit."),
    ("415", "The content type is not JSON."),
    (
        "422",
        "The skill failed and a retry would fail too, or the inputs or outputs violate the contract.",
    ),
    ("429", "Too many calls of this skill run."),
    ("500", "The implementation of the skill crashed."),
    (
        "503",
        "A failure that may be over when the call is repeated; or the host is overloaded or stopping.",
    ),
];

/// The document without its `servers`, which depend on where it is read.
pub(super) fn document(host: &SkillSet, checks_callers: bool) -> Map<String, Value> {
    let mut schemas = Schemas::default();
    schemas.insert("Error", error_schema());
    let mut paths = Map::new();
    let mut names = BTreeSet::new();
    for runnable in host.iter() {
        let name = free(&word(runnable), &mut names);
        let call = call(runnable, &name, checks_callers, &mut schemas);
        // Braces mean something else in these paths; `path_of` left none.
        paths.insert(path_of(runnable.skill().reference()), json!({"post": call}));
    }
    paths.extend(operations(checks_callers));
    let scheme = checks_callers
        .then(|| json!({"bearer": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}}));
    let info = json!({
        "title": "Skills",
        "version": env!("CARGO_PKG_VERSION"),
        "description": "The skills of one server. `info.version` is that of the server; each skill has its own.",
    });
    let components = without_nulls(json!({
        "schemas": schemas.into_value(),
        "responses": error_responses(),
        "headers": {
            "Cost": {
                "description": "What the call consumed, as compact JSON. Absent when nothing.",
                "required": false,
                "schema": {"type": "string"},
            },
            "Attachments": {
                "description": "How many attachments the result has, whether they are sent or not. Absent when none.",
                "required": false,
                "schema": {"type": "integer", "minimum": 1},
            },
        },
        "securitySchemes": scheme,
    }));
    without_nulls(json!({"openapi": "3.1.0", "info": info, "paths": paths, "components": components}))
}

/// The members of an object that are there.
fn without_nulls(object: Value) -> Map<String, Value> {
    let Value::Object(mut members) = object else {
        return Map::new();
    };
    members.retain(|_, value| !value.is_null());
    members
}

/// The name of a skill as a word of programs: `git.merge@2` is `GitMergeV2`.
fn word(runnable: &Runnable) -> String {
    let skill = runnable.skill();
    let text = format!("{} v{}", skill.name(), skill.version());
    let mut word = String::new();
    for part in text.split(|character: char| !character.is_ascii_alphanumeric()) {
        word += part.get(..1).unwrap_or_default().to_ascii_uppercase().as_str();
        word += part.get(1..).unwrap_or_default();
    }
    if word.starts_with(|first: char| first.is_ascii_alphabetic()) {
        word
    } else {
        format!("Skill{word}")
    }
}

/// One skill as an operation.
fn call(runnable: &Runnable, name: &str, checks_callers: bool, schemas: &mut Schemas) -> Map<String, Value> {
    let described = runnable.described();
    let (spec, contract, metadata) = (described.spec(), described.contract(), described.metadata());
    let inputs = schemas.contract(&format!("{name}Inputs"), &contract.inputs);
    let outputs = schemas.contract(&format!("{name}Outputs"), &contract.outputs);
    let needs_key = contract.idempotency == Idempotency::Required;
    let request = schemas.insert(&format!("{name}Call"), request(&inputs, needs_key));
    let mut content = json!({"schema": request});
    let example = metadata
        .get("examples")
        .and_then(|examples| examples[0].get("inputs"));
    if let Some(inputs) = example {
        content["example"] = json!({"inputs": inputs});
        if needs_key {
            content["example"]["idempotencyKey"] = "example-1".into();
        }
    }
    let mut responses = Map::new();
    let attaches = runnable.skill().handler().attaches();
    responses.insert("200".into(), success(&outputs, attaches));
    let may_come = |status: &&str| checks_callers || *status != "401";
    responses.extend(
        ERRORS
            .iter()
            .map(|(status, _)| *status)
            .filter(may_come)
            .map(error),
    );
    let deprecated = metadata.get("deprecated").and_then(Value::as_str);
    let note = deprecated.map(|instead| format!("\n\nDeprecated: {instead}"));
    let scopes = json!(contract.implementation)["auth"]["scopes"].take();
    let scopes = if scopes.is_null() { json!([]) } else { scopes };
    without_nulls(json!({
        "operationId": format!("call{name}"),
        "summary": metadata.get("title").unwrap_or(&runnable.skill().reference().into()),
        "description": spec.description.clone() + &note.unwrap_or_default(),
        "deprecated": deprecated.map(|_| true),
        "tags": metadata.get("tags"),
        "security": checks_callers.then(|| json!([{"bearer": scopes}])),
        "requestBody": {"required": true, "content": {"application/json": content}},
        "responses": responses,
        "x-skill": {
            "ref": runnable.skill().reference(),
            "sideEffects": spec.side_effects.as_str(),
            "riskLevel": spec.risk.as_str(),
            "idempotency": contract.idempotency.as_str(),
            "timeoutSeconds": contract.timeout_seconds,
        },
    }))
}

/// The body of a call.
fn request(inputs: &Value, needs_key: bool) -> Value {
    let (key, required) = if needs_key {
        (json!("string"), json!(["inputs", "idempotencyKey"]))
    } else {
        (json!(["string", "null"]), json!(["inputs"]))
    };
    json!({
        "type": "object",
        "properties": {
            "inputs": inputs,
            "invocationId": {"type": ["string", "null"], "description": "The id of this call, for the log."},
            "idempotencyKey": {"type": key, "description": "A retry with the same key has no second effect."},
            "settings": {"type": ["object", "null"], "description": "The package settings: `{\"values\": {…}}`."},
        },
        "required": required,
    })
}

/// The response with the outputs, and with what is attached to them for callers that ask for it.
fn success(outputs: &Value, attaches: bool) -> Value {
    let mut response = json!({
        "description": "The outputs of the skill.",
        "headers": {"X-Skill-Cost": {"$ref": "#/components/headers/Cost"}},
        "content": {"application/json": {"schema": outputs}},
    });
    if attaches {
        response["description"] = "The outputs of the skill. With `Accept: multipart/mixed` the outputs are the first \
             part, and each attachment is a part after it, with its media type, and its address in `Content-Location`."
            .into();
        response["headers"]["X-Skill-Attachments"] = json!({"$ref": "#/components/headers/Attachments"});
        // OpenAPI 3.1 has no words for parts without names.
        response["content"]["multipart/mixed"] = json!({"schema": {"type": "string", "format": "binary"}});
    }
    response
}

/// The envelope of all errors.
fn error_schema() -> Value {
    json!({
        "type": "object",
        "properties": {"error": {
            "type": "object",
            "properties": {
                "code": {"type": "string", "description": "What it is, for programs."},
                "message": {"type": "string", "description": "What it is, for people."},
                "retryable": {"type": "boolean", "description": "Whether a retry may succeed."},
                "details": {"description": "More of it, as the code says."},
            },
            "required": ["code", "message", "retryable", "details"],
        }},
        "required": ["error"],
    })
}

/// The errors as components, by status.
fn error_responses() -> Map<String, Value> {
    let responses = ERRORS.iter().map(|(status, when)| {
        let headers = match *status {
            "401" => json!({"WWW-Authenticate": {
                "description": "How to authenticate.", "schema": {"type": "string"},
            }}),
            "429" => json!({"Retry-After": {
                "description": "After how many seconds to repeat the call.", "schema": {"type": "integer"},
            }}),
            _ => Value::Null,
        };
        let content = json!({"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}});
        let response = json!({"description": when, "content": content, "headers": headers});
        (format!("Error{status}"), without_nulls(response).into())
    });
    responses.collect()
}

/// The reference to an error, by its status.
fn error(status: &str) -> (String, Value) {
    let response = json!({"$ref": format!("#/components/responses/Error{status}")});
    (status.to_owned(), response)
}

/// The routes that do not call a skill.
fn operations(checks_callers: bool) -> [(String, Value); 4] {
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
    let (listed, status) = (json!({"schema": listed}), json!({"schema": status}));
    let text = json!({"schema": {"type": "string"}});
    let get = |path: &str, id: &str, summary: &str, content: Value, guarded: bool, errors: &[&str]| {
        let mut responses = Map::new();
        responses.insert("200".into(), json!({"description": summary, "content": content}));
        responses.extend(errors.iter().copied().map(error));
        let security = guarded.then(|| json!([{"bearer": []}]));
        let get =
            json!({"operationId": id, "summary": summary, "responses": responses, "security": security});
        (path.to_owned(), json!({"get": without_nulls(get)}))
    };
    let errors: &[&str] = if checks_callers { &["401", "503"] } else { &[] };
    [
        get(
            "/skills",
            "listSkills",
            "The skills of this host.",
            json!({"application/json": listed}),
            checks_callers,
            errors,
        ),
        get(
            "/healthz",
            "health",
            "The program runs.",
            json!({"application/json": status}),
            false,
            &[],
        ),
        get(
            "/readyz",
            "readiness",
            "The host can do its work.",
            json!({"application/json": status}),
            false,
            &["503"],
        ),
        get(
            "/metrics",
            "metrics",
            "The metrics, for Prometheus.",
            json!({"text/plain": text}),
            checks_callers,
            errors,
        ),
    ]
}

#[cfg(test)]
mod tests;
