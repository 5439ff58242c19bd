//! The requests that the core in memory supports, and its responses.

use percent_encoding::percent_decode_str;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::knowledge::{plan_of, state_token};
use super::{Shared, State, filter};
use crate::platform::core::artifacts::hash;
use crate::platform::core::knowledge::{EntityRecord, Filter};
use crate::platform::web::{Answer, Request, Sent, Transport, WebError};

impl Transport for Shared<State> {
    fn send<'a>(&'a self, request: Request<'a>) -> Sent<'a> {
        let mut state = self.lock();
        let result = if state.down {
            Err(WebError::Unreachable("the mock of the core is down".to_owned()))
        } else {
            Ok(state.answer(&request))
        };
        drop(state);
        Box::pin(std::future::ready(result))
    }
}

/// A query for one page.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Query {
    workspace_id: String,
    kinds: Vec<String>,
    #[serde(rename = "where")]
    conditions: Vec<Filter>,
    as_of: Option<String>,
    /// How many entities the pages before contain.
    #[serde(default)]
    cursor: usize,
    limit: usize,
}

impl State {
    fn answer(&mut self, request: &Request<'_>) -> Answer {
        let path = request.url.split_once("/api/v1").map_or("", |(_, path)| path);
        let path = path.split('?').next().unwrap_or_default();
        let Some(body) = request.body else {
            let id = path.strip_prefix("/artifacts/");
            return match id.and_then(|rest| rest.strip_suffix("/content")) {
                Some(id) => self.artifact(&percent_decode_str(id).decode_utf8_lossy()),
                None => rejected(404, "not_found", "the mock of the core has no such path"),
            };
        };
        match path {
            "/knowledge/snapshots:preview" => self.preview(body),
            "/knowledge/snapshots" => self.apply(body),
            "/knowledge/documents" => {
                self.documents.push(body.clone());
                Answer::of(
                    200,
                    &json!({"naturalKey": body["naturalKey"], "status": "stored"}),
                )
            }
            "/knowledge/entities:query" => match Query::deserialize(body) {
                Ok(query) => self.query(&query),
                Err(error) => rejected(400, "invalid_request", &error.to_string()),
            },
            "/context/recall" => {
                self.recalls.push(body.clone());
                let sections = || json!({"sections": []});
                Answer::of(200, &self.recall_answer.clone().unwrap_or_else(sections))
            }
            _ => rejected(404, "not_found", "the mock of the core has no such path"),
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
            None => rejected(404, "artifact_not_found", &format!("unknown artifact {id}")),
        }
    }

    fn preview(&self, body: &Value) -> Answer {
        let (before, after) = self.knowledge.states(workspace(body), body);
        let token = state_token(&before);
        Answer::of(200, &plan_of(&before, &after, &token))
    }

    fn apply(&mut self, body: &Value) -> Answer {
        if let Some((workspace, snapshot)) = self.interference.take() {
            self.knowledge.apply(&workspace, &snapshot);
        }
        let (before, after) = self.knowledge.states(workspace(body), body);
        let current = state_token(&before);
        let expected = body.get("expectedState");
        if expected.is_some_and(|expected| *expected != current) {
            let error = json!({"code": "snapshot_stale", "message": "the state has changed", "details": {"stateToken": current}});
            return Answer::of(409, &json!({"error": error}));
        }
        let token = self.knowledge.apply(workspace(body), body);
        self.applied.push(body.clone());
        Answer::of(200, &plan_of(&before, &after, &token))
    }

    fn query(&mut self, query: &Query) -> Answer {
        if query.cursor == 0 {
            self.queries.push(json!({
                "workspaceId": query.workspace_id,
                "kinds": query.kinds,
                "where": query.conditions,
                "asOf": query.as_of,
            }));
        }
        // Invalid conditions are an error even without entities.
        if let Err(why) = filter::matches(&Map::new(), &query.conditions) {
            return rejected(400, "invalid_request", &why);
        }
        let mut found = self.knowledge.entities(&query.workspace_id);
        found.retain(|entity| {
            query.kinds.contains(&entity.kind)
                && filter::matches(&entity.attributes, &query.conditions) == Ok(true)
        });
        let end = query.cursor + query.limit;
        let next = (found.len() > end).then_some(end);
        let items: Vec<EntityRecord> = found.into_iter().skip(query.cursor).take(query.limit).collect();
        Answer::of(200, &json!({"items": items, "nextCursor": next}))
    }
}

fn workspace(body: &Value) -> &str {
    body["workspaceId"].as_str().unwrap_or_default()
}

fn rejected(status: u16, code: &str, message: &str) -> Answer {
    Answer::of(status, &json!({"error": {"code": code, "message": message}}))
}
