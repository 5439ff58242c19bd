//! The success of a call as OpenAPI says it.

use serde_json::{Value, json};

/// The headers of a success as components.
pub(super) fn headers() -> Value {
    json!({
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
    })
}

/// The answer with the outputs, and with what is attached to them for callers that ask for it.
pub(super) fn success(outputs: &Value, attaches: bool) -> Value {
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
