//! What the core, the IAM and the secret store in memory answer.

use std::time::Duration;

use serde_json::{Value, json};

use super::{Shared, State};
use crate::platform::dates;
use crate::platform::web::{Answer, Method, Request, Sent, Transport, WebError};

/// What the IAM knows the host by.
pub(super) const PLATFORM_TOKEN: &str = "fake-platform-token";

/// For how many seconds a token of the IAM, and a login of the store, is good.
const LIFE: u64 = 300;

/// What a login of the store is good for. No audience has this name.
const READING: &str = "reading";

impl Transport for Shared {
    fn send<'a>(&'a self, request: Request<'a>) -> Sent<'a> {
        let body = request.body.unwrap_or(&Value::Null);
        let header = |name: &str| {
            let found = request.headers.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| value.as_ref())
        };
        let mut state = self.lock();
        let url = request.url;
        let result = if let Some(path) = url.strip_prefix("http://core.fake/api/v1") {
            let bearer = header("authorization").and_then(|bearer| bearer.strip_prefix("Bearer "));
            let known = state.knows(bearer, "control-plane");
            state.core(path, known)
        } else if url.starts_with("http://iam.fake/") {
            Ok(state.exchanged(body))
        } else if let Some(path) = url.strip_prefix("http://store.fake/v1/") {
            Ok(if request.method == Method::POST {
                state.logged_in(body)
            } else {
                let known = state.knows(header("x-vault-token"), READING);
                state.material(path, known)
            })
        } else {
            Err(WebError::Unreachable("nobody is there in this test".to_owned()))
        };
        drop(state);
        Box::pin(std::future::ready(result))
    }
}

impl State {
    /// A token that is good for this for a while.
    fn issue(&mut self, good_for: &str) -> String {
        self.issued += 1;
        let token = format!("fake-{good_for}-{}", self.issued);
        let until = self.clock.now() + Duration::from_secs(LIFE);
        self.tokens.insert(token.clone(), (good_for.to_owned(), until));
        token
    }

    fn knows(&self, token: Option<&str>, good_for: &str) -> bool {
        let known = token.and_then(|token| self.tokens.get(token));
        known.is_some_and(|(what, until)| what == good_for && self.clock.now() < *until)
    }

    fn exchanged(&mut self, body: &Value) -> Answer {
        if body["token"] != PLATFORM_TOKEN {
            return answered(401, &json!({"detail": "invalid_token"}));
        }
        let token = self.issue(body["audience"].as_str().unwrap_or_default());
        answered(200, &json!({"accessToken": token, "expiresIn": LIFE}))
    }

    fn logged_in(&mut self, body: &Value) -> Answer {
        if body["role"] != "agent-p-1" || !self.knows(body["jwt"].as_str(), "openbao") {
            return answered(400, &json!({"errors": ["error validating token"]}));
        }
        let token = self.issue(READING);
        answered(
            200,
            &json!({"auth": {"client_token": token, "lease_duration": LIFE}}),
        )
    }

    fn core(&mut self, path: &str, known: bool) -> Result<Answer, WebError> {
        let key = path.strip_prefix("/agents/me/connections/");
        self.lookups += usize::from(key.is_some());
        if self.core_down {
            return Err(WebError::Unreachable("the core of the test is down".to_owned()));
        }
        if !known {
            return Ok(answered(401, &json!({"error": {"code": "invalid_credentials"}})));
        }
        if path == "/agents/me" {
            return Ok(answered(200, &json!({"principalId": "p-1"})));
        }
        let Some(entry) = key.and_then(|key| self.connections.get(key)) else {
            return Ok(answered(404, &json!({"error": {"code": "not_found"}})));
        };
        let usable = entry.status == "active";
        let connection = &entry.connection;
        let document = json!({
            "key": connection.key,
            "type": connection.kind,
            "typeVersion": (entry.status != "pending").then_some(1),
            "account": connection.account,
            "auth": usable.then_some(&connection.auth),
            "status": entry.status,
            "settings": connection.settings,
            "secretRef": usable.then(|| entry.secret_ref()),
            "expiresAt": null,
        });
        Ok(answered(200, &document))
    }

    fn material(&mut self, path: &str, known: bool) -> Answer {
        if !known {
            return answered(403, &json!({"errors": ["permission denied"]}));
        }
        self.reads.push(path.to_owned());
        if self.sealed {
            return answered(503, &json!({"errors": ["sealed"]}));
        }
        let mut entries = self.connections.values();
        let entry = entries.find(|entry| entry.status == "active" && entry.own_place() == path);
        let Some(entry) = entry else {
            return answered(404, &json!({"errors": []}));
        };
        if let Some(status) = entry.refuses {
            return answered(status, &json!({"errors": ["refused"]}));
        }
        let data = json!({
            "access_token": entry.token(),
            "expires_at": entry.expires_at.map(dates::format),
        });
        if path.starts_with("kv/") {
            answered(200, &json!({"data": {"data": data, "metadata": {"version": 1}}}))
        } else {
            answered(200, &json!({"data": data}))
        }
    }
}

fn answered(status: u16, document: &Value) -> Answer {
    Answer {
        status,
        media_type: Some("application/json".to_owned()),
        etag: None,
        body: document.to_string().into_bytes(),
    }
}
