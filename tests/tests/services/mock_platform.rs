//! A mock of the platform behind real sockets: the core, the IAM and the secret store, each with its own rules.
//!
//! - The IAM accepts one platform access token for two audiences, and issues tokens that can be revoked.
//! - The core accepts only tokens issued for it, requires an idempotency key for writes, and responds to a retry with its
//!   earlier response. It versions states and paginates lists.
//! - The secret store is in `mock_secret_store`.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard};

use serde_json::{Value, json};

use super::faulty_server::{Reply, Request, serve};
use super::mock_secret_store::Store;

/// The platform access token of the server.
pub(crate) const PLATFORM_TOKEN: &str = "pat-visible-1";

/// The secret of the connection `crm`.
pub(crate) const MATERIAL: &str = "material-visible-1";

/// The path of the secret of `crm`.
pub(crate) const PLACE: &str = "kv/data/tenants/t-1/connections/crm";

/// A platform that listens until the runtime ends.
#[derive(Clone)]
pub(crate) struct Platform {
    state: Arc<Mutex<State>>,
    address: String,
}

/// What the mock does instead of a valid response.
#[derive(Debug, Clone)]
pub(crate) enum Fault {
    /// Only this reply.
    Instead(Reply),
    /// An error with this status that echoes the whole request.
    Echo(u16),
    /// Handles the request, then closes the connection before the response.
    LostAnswer,
}

#[derive(Default)]
pub(crate) struct State {
    /// All requests, in order.
    pub(crate) seen: Vec<Request>,
    /// The faults for the next requests whose path contains the string.
    pub(crate) faults: Vec<(&'static str, VecDeque<Fault>)>,
    issued: u64,
    /// The valid tokens and their audiences.
    tokens: HashMap<String, String>,
    pub(crate) artifacts: BTreeMap<String, (Vec<u8>, Option<String>)>,
    /// For each workspace, pack, source and scope: the number of changes, and the snapshot.
    slots: BTreeMap<String, (u64, Value)>,
    /// For each idempotency key: the body and the response.
    keys: HashMap<String, (Value, Value)>,
    /// The number of writes.
    pub(crate) effects: u64,
    pub(crate) entities: Vec<Value>,
    pub(crate) connections: BTreeMap<String, Value>,
    pub(crate) store: Store,
}

impl Platform {
    pub(crate) async fn start() -> Self {
        let state: Arc<Mutex<State>> = Arc::default();
        let handler = {
            let state = Arc::clone(&state);
            move |request: Request| {
                let mut state = state.lock().unwrap();
                state.seen.push(request.clone());
                state.handle(&request)
            }
        };
        let address = serve(Arc::new(handler)).await;
        let platform = Self {
            state,
            address: format!("http://{address}"),
        };
        {
            let mut state = platform.state();
            state
                .connections
                .insert("crm".to_owned(), connection_description("active"));
            let store = &mut state.store;
            let material = json!({"access_token": MATERIAL});
            store.material.insert(PLACE.to_owned(), material);
            store.policy.insert(PLACE.to_owned());
        }
        platform
    }

    /// The environment variables of a server that uses this platform.
    pub(crate) fn variables(&self) -> Vec<(String, String)> {
        let own = [
            ("CONTROL_PLANE_URL", format!("{}/core/", self.address)),
            ("CONTROL_PLANE_IAM_URL", format!("{}/iam", self.address)),
            ("CONTROL_PLANE_IAM_TENANT", "t-1".to_owned()),
            ("IAM_CREDENTIAL_MODE", "environment".to_owned()),
            ("IAM_PLATFORM_ACCESS_TOKEN", PLATFORM_TOKEN.to_owned()),
            ("SKILL_SDK_SECRET_STORE_URL", format!("{}/store", self.address)),
        ];
        own.map(|(name, value)| (name.to_owned(), value)).into()
    }

    /// The variables with some of them changed; an empty one is treated as not set.
    pub(crate) fn variables_with(&self, changes: &[(&str, &str)]) -> Vec<(String, String)> {
        let mut variables = self.variables();
        variables.extend(
            changes
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned())),
        );
        variables
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    /// Adds faults for the next requests whose path contains `part`.
    pub(crate) fn add_faults(&self, part: &'static str, faults: impl IntoIterator<Item = Fault>) {
        self.state().faults.push((part, faults.into_iter().collect()));
    }

    /// The requests whose path contains `part`.
    pub(crate) fn seen(&self, part: &str) -> Vec<Request> {
        let state = self.state();
        state
            .seen
            .iter()
            .filter(|request| request.path.contains(part))
            .cloned()
            .collect()
    }

    /// Revokes all short-lived tokens.
    pub(crate) fn revoke_tokens(&self) {
        self.state().tokens.clear();
    }
}

/// The description of the connection `crm` in the core.
pub(crate) fn connection_description(status: &str) -> Value {
    json!({"key": "crm", "type": "crm", "typeVersion": 2, "account": "acme", "auth": "token", "status": status,
           "settings": {"queue": "support"}, "secretRef": PLACE, "expiresAt": null})
}

fn error_reply(status: u16, code: &str) -> Reply {
    Reply::json(
        status,
        &json!({"error": {"code": code, "message": "said by the core", "details": null}}),
    )
}

impl State {
    fn handle(&mut self, request: &Request) -> Reply {
        let fault = self
            .faults
            .iter_mut()
            .find(|(part, faults)| request.path.contains(part) && !faults.is_empty())
            .and_then(|(_, faults)| faults.pop_front());
        match &fault {
            Some(Fault::Instead(reply)) => return reply.clone(),
            Some(Fault::Echo(status)) => {
                let said = format!("{:?} {}", request.headers, request.body);
                let error = json!({"code": "bad", "message": said, "details": {"said": said}});
                return Reply::json(*status, &json!({"error": error, "errors": [said]}));
            }
            Some(Fault::LostAnswer) | None => {}
        }
        let reply = if let Some(path) = request.path.strip_prefix("/core/api/v1") {
            self.core(path, request)
        } else if request.path == "/iam/api/v1/platform-access-tokens:exchange" {
            self.exchange(request)
        } else if let Some(path) = request.path.strip_prefix("/store/v1/") {
            let tokens = &self.tokens;
            let is_ours = |jwt: &str| tokens.get(jwt).is_some_and(|audience| audience == "openbao");
            self.store.answer(path, request, is_ours)
        } else {
            error_reply(404, "not_found")
        };
        if fault.is_some() { Reply::Drop } else { reply }
    }

    fn exchange(&mut self, request: &Request) -> Reply {
        if request.body["token"] != PLATFORM_TOKEN {
            return Reply::json(401, &json!({"detail": "invalid_token"}));
        }
        let audience = request.body["audience"].as_str().unwrap();
        if !["control-plane", "openbao"].contains(&audience) {
            return Reply::json(403, &json!({"detail": "audience_not_allowed"}));
        }
        self.issued += 1;
        let token = format!("short-visible-{}", self.issued);
        self.tokens.insert(token.clone(), audience.to_owned());
        Reply::json(200, &json!({"accessToken": token, "expiresIn": 300, "scope": ""}))
    }

    fn core(&mut self, path: &str, request: &Request) -> Reply {
        let bearer = request
            .header("authorization")
            .and_then(|header| header.strip_prefix("Bearer "));
        let known = bearer.is_some_and(|token| {
            token == "key-visible-1"
                || self
                    .tokens
                    .get(token)
                    .is_some_and(|audience| audience == "control-plane")
        });
        if !known {
            return error_reply(401, "invalid_credentials");
        }
        let (path, _) = path.split_once('?').unwrap_or((path, ""));
        match (request.method.as_str(), path) {
            ("GET", "/agents/me") => Reply::json(200, &json!({"principalId": "p-1"})),
            ("GET", path) if path.starts_with("/agents/me/connections/") => {
                let key = path.rsplit('/').next().unwrap();
                self.connections
                    .get(key)
                    .map_or_else(|| error_reply(404, "not_found"), |found| Reply::json(200, found))
            }
            ("GET", path) => {
                let id = path
                    .strip_prefix("/artifacts/")
                    .and_then(|rest| rest.strip_suffix("/content"));
                self.artifact(id.unwrap_or_default())
            }
            ("POST", "/knowledge/snapshots:preview") => Reply::json(
                200,
                &json!({"opened": 1, "stateToken": self.token_of(&request.body)}),
            ),
            ("POST", "/knowledge/snapshots" | "/knowledge/documents") => self.write_once(path, request),
            ("POST", "/knowledge/entities:query") => self.page(&request.body),
            ("POST", "/context/recall") => {
                Reply::json(200, &json!({"sections": [{"title": "s"}], "budget": 7}))
            }
            _ => error_reply(404, "not_found"),
        }
    }

    fn artifact(&self, id: &str) -> Reply {
        let Some((data, etag)) = self.artifacts.get(id) else {
            return error_reply(404, "not_found");
        };
        let mut headers = vec![("content-type", "text/csv".to_owned())];
        headers.extend(etag.clone().map(|etag| ("etag", etag)));
        Reply::Http {
            status: 200,
            headers,
            body: data.clone(),
        }
    }

    /// Handles a write with an idempotency key.
    fn write_once(&mut self, path: &str, request: &Request) -> Reply {
        let Some(key) = request.header("idempotency-key") else {
            return error_reply(400, "idempotency_key_required");
        };
        if let Some((body, answer)) = self.keys.get(key) {
            return if *body == request.body {
                Reply::json(200, answer)
            } else {
                error_reply(409, "idempotency_key_reused")
            };
        }
        let answer = if path == "/knowledge/documents" {
            json!({"naturalKey": request.body["naturalKey"], "status": "stored"})
        } else {
            let current = self.token_of(&request.body);
            let expected = &request.body["expectedState"];
            if !expected.is_null() && *expected != current {
                let details = json!({"stateToken": current});
                return Reply::json(
                    409,
                    &json!({"error": {"code": "snapshot_stale", "details": details}}),
                );
            }
            let slot = self.slots.entry(slot(&request.body)).or_default();
            *slot = (slot.0 + 1, request.body.clone());
            json!({"opened": 1, "stateToken": self.token_of(&request.body)})
        };
        self.effects += 1;
        self.keys
            .insert(key.to_owned(), (request.body.clone(), answer.clone()));
        Reply::json(200, &answer)
    }

    fn token_of(&self, body: &Value) -> String {
        format!(
            "st:{}",
            self.slots.get(&slot(body)).map_or(0, |(changes, _)| *changes)
        )
    }

    /// Simulates a concurrent change by another client.
    pub(crate) fn change_concurrently(&mut self, workspace: &str, source: &str) {
        let body = json!({"workspaceId": workspace, "pack": "p", "source": source, "scope": "c"});
        self.slots.entry(slot(&body)).or_default().0 += 1;
    }

    fn page(&self, body: &Value) -> Reply {
        let limit = usize::try_from(body["limit"].as_u64().unwrap_or(100)).unwrap();
        if !(1..=500).contains(&limit) {
            return error_reply(400, "invalid_request");
        }
        let start = match body.get("cursor") {
            None => 0,
            Some(cursor) => match cursor.as_str().and_then(|cursor| cursor.strip_prefix("after-")) {
                Some(start) => start.parse().unwrap(),
                None => return error_reply(422, "entities_query_invalid"),
            },
        };
        let items: Vec<_> = self.entities.iter().skip(start).take(limit).collect();
        let next = (self.entities.len() > start + limit).then(|| format!("after-{}", start + limit));
        Reply::json(
            200,
            &json!({"items": items, "nextCursor": next, "asOf": "2026-01-01T00:00:00+00:00"}),
        )
    }
}

fn slot(body: &Value) -> String {
    ["workspaceId", "pack", "source", "scope"]
        .map(|name| body[name].as_str().unwrap_or_default())
        .join("|")
}
