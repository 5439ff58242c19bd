//! The description of a connection by the core.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::error::SkillError;

/// The longest name of a tenant in a path of the store.
const MAX_TENANT: usize = 64;

/// How much of an unknown status is in a message, in characters.
const MAX_STATUS: usize = 60;

/// The first segments of the paths of material in the store.
const ROOTS: [&str; 2] = ["oauth2/creds/", "kv/data/"];

/// Whether a connection can be used.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum ConnectionStatus {
    /// The connection can be used.
    Active,
    /// The connection has not been set up yet.
    Pending,
    /// The access was revoked.
    Revoked,
    /// The access expired. An administrator must connect it again.
    Expired,
    /// A status that this version does not know.
    #[serde(untagged)]
    Other(String),
}

/// A connection, as the core describes it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Description {
    pub(crate) key: String,
    #[serde(rename = "type")]
    pub(crate) kind: String,
    pub(crate) type_version: Option<u64>,
    pub(crate) account: Option<String>,
    pub(crate) auth: Option<String>,
    pub(crate) status: ConnectionStatus,
    #[serde(default, deserialize_with = "crate::platform::core::knowledge::or_default")]
    pub(crate) settings: Map<String, Value>,
    pub(super) secret_ref: Option<String>,
}

impl Description {
    /// Fails unless the connection can be used.
    pub(super) fn check_active(&self) -> Result<(), SkillError> {
        let key = &self.key;
        let failure = match &self.status {
            ConnectionStatus::Active => return Ok(()),
            ConnectionStatus::Pending => {
                let message = format!("the connection {key} is not connected yet");
                SkillError::terminal("connection_pending", message)
            }
            ConnectionStatus::Revoked => {
                let message = format!("the connection {key} was revoked: it must be connected again");
                SkillError::terminal("connection_revoked", message)
            }
            ConnectionStatus::Expired => expired(key),
            ConnectionStatus::Other(status) => {
                let status: String = status.escape_debug().take(MAX_STATUS).collect();
                let message =
                    format!("the connection {key} has the status `{status}`, which is not known here");
                return Err(SkillError::terminal("core_error", message));
            }
        };
        Err(failure.with_details(json!({"connection": key})))
    }

    /// The path of the material. It must be a path for material of this connection.
    pub(super) fn secret_ref(&self) -> Result<&str, SkillError> {
        let path = self.secret_ref.as_deref();
        path.filter(|path| is_secret_ref(path, &self.key)).ok_or_else(|| {
            SkillError::terminal(
                "secret_ref_invalid",
                "the core returned an invalid path for the material of the connection",
            )
        })
    }
}

/// The failure of a connection whose access expired.
pub(super) fn expired(key: &str) -> SkillError {
    let message = format!("the access of the connection {key} expired: it must be connected again");
    SkillError::terminal("connection_expired", message)
}

// Settings and the path of the material are left out.
debug_fields!(Description {
    key,
    kind,
    account,
    status
});

/// Whether `path` is `(oauth2/creds|kv/data)/tenants/<tenant>/connections/<key>`.
fn is_secret_ref(path: &str, key: &str) -> bool {
    let behind = ROOTS.iter().find_map(|root| path.strip_prefix(root));
    let Some(rest) = behind.and_then(|behind| behind.strip_prefix("tenants/")) else {
        return false;
    };
    let Some((tenant, rest)) = rest.split_once('/') else {
        return false;
    };
    let is_tenant = (1..=MAX_TENANT).contains(&tenant.len())
        && tenant
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
    is_tenant && rest.strip_prefix("connections/") == Some(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_material() {
        for good in [
            "kv/data/tenants/t/connections/crm",
            "oauth2/creds/tenants/0f3f-1_A/connections/crm",
        ] {
            assert!(is_secret_ref(good, "crm"), "{good}");
        }
        for bad in [
            "",
            "sys/seal",
            "/kv/data/tenants/t/connections/crm",
            "kv/data/tenants/t/connections/other",
            "kv/data/tenants/t/connections/crm/x",
            "kv/data/tenants/t/connections/crm\n",
            "kv/data/tenants/../connections/crm",
            "kv/data/tenants//connections/crm",
            "kv/data/tenants/a/b/connections/crm",
            "kv/data/tenants/t%2f/connections/crm",
            "kv/metadata/tenants/t/connections/crm",
            "KV/data/tenants/t/connections/crm",
            "kv/data/tenants/t/connections/crm?version=1",
        ] {
            assert!(!is_secret_ref(bad, "crm"), "{bad:?}");
        }
    }
}
