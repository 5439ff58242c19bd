//! The requests that the core in memory knows, and what it answers.

use percent_encoding::percent_decode_str;
use serde_json::{Map, Value, json};

use super::knowledge::{plan_of, state_token};
use super::{Shared, State, filter};
use crate::platform::core::artifacts::hash;
use crate::platform::web::{Answer, Method, Request, Sent, Transport, WebError};

impl Transport for Shared {
    fn send<'a>(&'a self, request: Request<'a>) -> Sent<'a> {
        let mut state = self.lock();
        let result = if state.down {
            Err(WebError::Unreachable("the core of the test is down".to_owned()))
        } else {
            Ok(state.answer(&request))
        };
        drop(state);
        Box::pin(std::future::ready(result))
    }
}

impl State {
    fn answer(&mut self, request: &Request<'_>) -> Answer {
        let path = request.url.split_once("/api/v1").map_or("", |(_, path)| path);
        let path = path.split('?').next().unwrap_or_default();
        if request.method == Method::GET {
            let id = path
                .strip_prefix("/artifacts/")
                .and_then(|rest| rest.strip_suffix("/content"));
            return match id {
                Some(id) => self.artifact(&percent_decode_str(id).decode_utf8_lossy()),
                None => refused(404, "not_found", "the core of the test has nothing there"),
            };
        }
        let Some(Value::Object(body)) = request.body.cloned() else {
            return refused(400, "invalid_request", "the body is not a JSON object");
        };
        match path {
            "/knowledge/snapshots:preview" => self.preview(&body),
            "/knowledge/snapshots" => self.apply(body),
            "/knowledge/documents" => self.document(body),
            "/knowledge/entities:query" => self.query(&body),
            "/context/recall" => {
                self.recalls.push(body.into());
                answered(&self.recalled())
            }
            _ => refused(404, "not_found", "the core of the test has nothing there"),
        }
    }

    fn artifact(&mut self, id: &str) -> Answer {
        self.reads.push(id.to_owned());
        match self.artifacts.get(id) {
            Some((data, media_type)) => Answer {
                status: 200,
                media_type: Some(media_type.clone()),
                etag: Some(format!("\"sha256:{}\"", hash(data))),
                body: data.clone(),
            },
            None => refused(404, "artifact_not_found", &format!("there is no artifact {id}")),
        }
    }

    fn preview(&self, body: &Map<String, Value>) -> Answer {
        let (before, after) = self.knowledge.states(workspace(body), body);
        let token = state_token(&before);
        answered(&plan_of(&before, &after, &token))
    }

    fn apply(&mut self, body: Map<String, Value>) -> Answer {
        if let Some((workspace, snapshot)) = self.interference.take() {
            self.knowledge.apply(&workspace, &snapshot);
        }
        let (before, after) = self.knowledge.states(workspace(&body), &body);
        let current = state_token(&before);
        if body
            .get("expectedState")
            .is_some_and(|expected| *expected != current)
        {
            return envelope(
                409,
                &json!({"code": "snapshot_stale", "message": "the state has changed", "details": {"stateToken": current}}),
            );
        }
        let body = Value::from(body);
        let token = self
            .knowledge
            .apply(body["workspaceId"].as_str().unwrap_or_default(), &body);
        self.applied.push(body);
        answered(&plan_of(&before, &after, &token))
    }

    fn document(&mut self, body: Map<String, Value>) -> Answer {
        let key = body.get("naturalKey").cloned();
        self.documents.push(body.into());
        answered(&json!({"naturalKey": key, "status": "stored"}))
    }

    fn query(&mut self, body: &Map<String, Value>) -> Answer {
        let of = |name: &str| body.get(name).cloned();
        let conditions = of("where").unwrap_or_else(|| json!([]));
        let kinds = of("kinds").unwrap_or_default();
        if body.get("cursor").is_none() {
            self.queries.push(json!({
                "workspaceId": of("workspaceId"),
                "kinds": kinds,
                "where": conditions,
                "asOf": of("asOf"),
            }));
        }
        let mut found = Vec::new();
        for item in self.knowledge.entities(workspace(body)) {
            let of_kind = kinds
                .as_array()
                .is_some_and(|kinds| kinds.contains(&item["kind"]));
            // Wrong conditions are wrong whatever there is.
            match filter::matches(&item["attributes"], &conditions) {
                Err(why) => return refused(400, "invalid_request", &why),
                Ok(true) if of_kind => found.push(item),
                Ok(_) => {}
            }
        }
        if let Err(why) = filter::matches(&json!({}), &conditions) {
            return refused(400, "invalid_request", &why);
        }
        let number = |name: &str| body.get(name).and_then(Value::as_u64).map(usize::try_from);
        let start = number("cursor").and_then(Result::ok).unwrap_or(0);
        let limit = number("limit").and_then(Result::ok).unwrap_or(100).max(1);
        let next = (found.len() > start + limit).then_some(start + limit);
        let items: Vec<_> = found.into_iter().skip(start).take(limit).collect();
        answered(&json!({"items": items, "nextCursor": next}))
    }
}

fn workspace(body: &Map<String, Value>) -> &str {
    body.get("workspaceId")
        .and_then(Value::as_str)
        .unwrap_or_default()
}

fn answered(document: &Value) -> Answer {
    Answer {
        status: 200,
        media_type: Some("application/json".to_owned()),
        etag: None,
        body: document.to_string().into_bytes(),
    }
}

fn refused(status: u16, code: &str, message: &str) -> Answer {
    envelope(status, &json!({"code": code, "message": message}))
}

fn envelope(status: u16, error: &Value) -> Answer {
    Answer {
        status,
        ..answered(&json!({"error": error}))
    }
}
