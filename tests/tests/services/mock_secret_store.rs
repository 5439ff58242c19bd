//! The secret store of the mock. It follows the documented rules of the HTTP API of `OpenBao` and `HashiCorp` Vault:
//!
//! - errors are `{"errors": […]}`, successes an envelope with `data` or `auth`;
//! - a sealed store responds with 503 to every request;
//! - `auth/jwt/login` requires a role and a JWT for the audience of the store, or responds with 400; it returns a token
//!   with a lease;
//! - an unknown, expired or revoked token, and a path that no policy of the token allows, get 403;
//! - version 2 of `kv` nests the stored value in `data.data`; a missing secret gets 404 without errors, a deleted version
//!   404 with its metadata, and a path without `data/` 404;
//! - a path without an engine gets 404, another method 405.
//!
//! Namespaces are not supported.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::faulty_server::{Reply, Request};

/// The lease of a login in seconds.
pub(crate) const LEASE: u64 = 300;

/// The content of the store.
#[derive(Default)]
pub(crate) struct Store {
    pub(crate) material: BTreeMap<String, Value>,
    /// Paths whose last version was deleted.
    pub(crate) deleted: BTreeSet<String>,
    /// The paths that the agent can read.
    pub(crate) policy: BTreeSet<String>,
    pub(crate) sealed: bool,
    /// The tokens of logins, with their expiry.
    logins: BTreeMap<String, u64>,
    issued: u64,
    /// The clock of the store, in seconds.
    now: u64,
}

impl Store {
    /// Revokes all logins, as a restart or an administrator does.
    pub(crate) fn revoke_logins(&mut self) {
        self.logins.clear();
    }

    /// Advances the clock of the store.
    pub(crate) fn advance(&mut self, seconds: u64) {
        self.now += seconds;
    }

    /// The response to a request; `is_ours` checks whether a JWT is valid for the audience of the store.
    pub(crate) fn answer(&mut self, path: &str, request: &Request, is_ours: impl Fn(&str) -> bool) -> Reply {
        if self.sealed {
            return errors(503, &["Vault is sealed"]);
        }
        match (request.method.as_str(), path) {
            ("POST", "auth/jwt/login") => self.log_in(&request.body, is_ours),
            (_, "auth/jwt/login") => errors(405, &["unsupported operation"]),
            ("GET", _) => self.read(path, request.header("x-vault-token")),
            _ => errors(405, &["unsupported operation"]),
        }
    }

    fn log_in(&mut self, body: &Value, is_ours: impl Fn(&str) -> bool) -> Reply {
        let Some(role) = body["role"].as_str().filter(|role| !role.is_empty()) else {
            return errors(400, &["missing role"]);
        };
        if role != "agent-p-1" {
            return errors(400, &[&format!("role {role:?} could not be found")]);
        }
        match body["jwt"].as_str() {
            None => return errors(400, &["missing token"]),
            Some(jwt) if !is_ours(jwt) => {
                return errors(400, &["error validating token: invalid audience (aud) claim"]);
            }
            Some(_) => {}
        }
        self.issued += 1;
        let token = format!("login-visible-{}", self.issued);
        self.logins.insert(token.clone(), self.now + LEASE);
        let auth = json!({
            "client_token": token, "accessor": "a", "policies": ["default", "connections"],
            "token_policies": ["default", "connections"], "metadata": {"role": role}, "lease_duration": LEASE,
            "renewable": true, "entity_id": "e", "token_type": "service", "orphan": true, "num_uses": 0,
        });
        enveloped(200, &json!(null), &auth)
    }

    fn read(&self, path: &str, token: Option<&str>) -> Reply {
        let denied = |also: &str| {
            errors(
                403,
                &[&format!(
                    "2 errors occurred:\n\t* permission denied\n\t* {also}\n\n"
                )],
            )
        };
        let Some(until) = token.and_then(|token| self.logins.get(token)) else {
            return denied("invalid token");
        };
        if *until <= self.now {
            return denied("invalid token");
        }
        if !self.policy.contains(path) {
            return errors(403, &["1 error occurred:\n\t* permission denied\n\n"]);
        }
        let Some((engine, rest)) = path.split_once('/') else {
            return errors(
                404,
                &[&format!("no handler for route {path:?}. route entry not found.")],
            );
        };
        let (is_versioned, rest) = match (engine, rest.split_once('/')) {
            ("kv", Some(("data", rest))) => (true, rest),
            ("oauth2", Some(("creds", rest))) => (false, rest),
            ("kv", _) => {
                let told = "Invalid path for a versioned K/V secrets engine.";
                return Reply::json(404, &json!({"errors": [], "warnings": [told]}));
            }
            _ => {
                return errors(
                    404,
                    &[&format!("no handler for route {path:?}. route entry not found.")],
                );
            }
        };
        assert!(!rest.is_empty());
        let metadata = |deletion: &str| {
            json!({"created_time": "2026-01-01T00:00:00Z", "custom_metadata": null, "deletion_time": deletion,
                   "destroyed": false, "version": 3})
        };
        if self.deleted.contains(path) {
            let data = json!({"data": null, "metadata": metadata("2026-01-02T00:00:00Z")});
            return enveloped(404, &data, &json!(null));
        }
        match self.material.get(path) {
            None => errors(404, &[]),
            Some(data) if is_versioned => enveloped(
                200,
                &json!({"data": data, "metadata": metadata("")}),
                &json!(null),
            ),
            Some(data) => enveloped(200, data, &json!(null)),
        }
    }
}

fn errors(status: u16, errors: &[&str]) -> Reply {
    Reply::json(status, &json!({"errors": errors}))
}

/// The envelope of every success of the API.
fn enveloped(status: u16, data: &Value, auth: &Value) -> Reply {
    let document = json!({
        "request_id": "r", "lease_id": "", "renewable": false, "lease_duration": 0, "data": data, "wrap_info": null,
        "warnings": null, "auth": auth, "mount_type": "kv",
    });
    Reply::json(status, &document)
}
