//! The errors of a host as OpenAPI says them.

use serde_json::{Map, Value, json};

/// The component, the statuses, and when they come. All have the one envelope.
const ERRORS: [(&str, &str); 10] = [
    ("400", "The body is not JSON, or has no object `inputs`."),
    ("401", "There is no token, or it did not pass."),
    ("404", "There is no such skill here."),
    ("408", "The body did not come in time."),
    ("413", "The body is over the limit."),
    ("415", "The content type is not JSON."),
    (
        "422",
        "The skill failed, and a repeat would fail as well; or inputs or outputs break the contract.",
    ),
    ("429", "Too many calls of this skill run."),
    ("500", "The implementation of the skill crashed."),
    (
        "503",
        "A failure that may be over when the call is repeated; or the host is overloaded or stopping.",
    ),
];

/// The envelope of all errors.
pub(super) fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {"error": {
            "type": "object",
            "properties": {
                "code": {"type": "string", "description": "What it is, for programs."},
                "message": {"type": "string", "description": "What it is, for people."},
                "retryable": {"type": "boolean", "description": "Whether a repeat may succeed."},
                "details": {"description": "More of it, as the code says."},
            },
            "required": ["code", "message", "retryable", "details"],
        }},
        "required": ["error"],
    })
}

/// The responses as components, by status.
pub(super) fn responses() -> Value {
    let responses = ERRORS.iter().map(|(status, when)| {
        let mut response = json!({
            "description": when,
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}},
        });
        let header = match *status {
            "401" => Some(("WWW-Authenticate", "How to authenticate.", "string")),
            "429" => Some((
                "Retry-After",
                "After how many seconds to repeat the call.",
                "integer",
            )),
            _ => None,
        };
        if let Some((name, description, kind)) = header {
            response["headers"] = json!({(name): {"description": description, "schema": {"type": kind}}});
        }
        (format!("Error{status}"), response)
    });
    responses.collect::<Map<_, _>>().into()
}

/// The errors that a call may have.
pub(super) fn of_calls(checks_callers: bool) -> impl Iterator<Item = (String, Value)> {
    let statuses = ERRORS.iter().map(|(status, _)| *status);
    let given = move |status: &&str| checks_callers || *status != "401";
    statuses.filter(given).map(reference)
}

/// The errors of a route that is no skill.
pub(super) fn of_operations(guarded: bool, may_be_unready: bool) -> impl Iterator<Item = (String, Value)> {
    let statuses = [("401", guarded), ("503", guarded || may_be_unready)];
    let given = statuses.into_iter().filter(|(_, given)| *given);
    given.map(|(status, _)| reference(status))
}

fn reference(status: &str) -> (String, Value) {
    let response = json!({"$ref": format!("#/components/responses/Error{status}")});
    (status.to_owned(), response)
}
