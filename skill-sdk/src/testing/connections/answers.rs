//! The responses of the core, the IAM and the secret store in memory. They accept every credential: a skill does not depend on
//! the authentication between the services.

use serde_json::{Value, json};

use super::{Shared, State};
use crate::platform::dates;
use crate::platform::web::{Answer, Request, Sent, Transport, WebError};

/// The lifetime of a token of the IAM and of a login of the store, in seconds.
const LIFE: u64 = 300;

impl Transport for Shared<State> {
    fn send<'a>(&'a self, request: Request<'a>) -> Sent<'a> {
        let mut state = self.lock();
        let url = request.url;
        let result = if let Some(path) = url.strip_prefix("http://core.fake/api/v1") {
            state.core(path)
        } else if let Some(path) = url.strip_prefix("http://store.fake/v1/") {
            Ok(state.store(path))
        } else {
            let exchanged = json!({"accessToken": "fake-token", "expiresIn": LIFE});
            Ok(Answer::of(200, &exchanged))
        };
        drop(state);
        Box::pin(std::future::ready(result))
    }
}

impl State {
    fn core(&mut self, path: &str) -> Result<Answer, WebError> {
        let key = path.strip_prefix("/agents/me/connections/");
        self.lookups += usize::from(key.is_some());
        if self.core_down {
            return Err(WebError::Unreachable("the mock of the core is down".to_owned()));
        }
        if path == "/agents/me" {
            return Ok(Answer::of(200, &json!({"principalId": "p-1"})));
        }
        let Some(entry) = key.and_then(|key| self.connections.get(key)) else {
            return Ok(Answer::of(404, &json!({"error": {"code": "not_found"}})));
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
            "secretRef": usable.then(|| entry.secret_ref.clone().unwrap_or_else(|| entry.path())),
            "expiresAt": null,
        });
        Ok(Answer::of(200, &document))
    }

    fn store(&mut self, path: &str) -> Answer {
        if path == "auth/jwt/login" {
            let auth = json!({"client_token": "fake-login", "lease_duration": LIFE});
            return Answer::of(200, &json!({"auth": auth}));
        }
        self.reads.push(path.to_owned());
        let rejected = |status| Answer::of(status, &json!({"errors": ["rejected"]}));
        if self.sealed {
            return rejected(503);
        }
        let mut entries = self.connections.values();
        let Some(entry) = entries.find(|entry| entry.status == "active" && entry.path() == path) else {
            return rejected(404);
        };
        if let Some(status) = entry.rejects {
            return rejected(status);
        }
        let data: Value = json!({
            "access_token": entry.token(),
            "expires_at": entry.expires_at.map(dates::format),
        });
        if path.starts_with("kv/") {
            Answer::of(200, &json!({"data": {"data": data, "metadata": {"version": 1}}}))
        } else {
            Answer::of(200, &json!({"data": data}))
        }
    }
}
