//! Connections over a scripted transport.

mod callers;
mod cases;
mod forgetting;
mod store;

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::{ConnectionsClient, LONGEST_CACHE, StoreSettings};
use crate::context::{Meta, SkillContext};
use crate::platform::clock::Clock;
use crate::platform::core::tests::script::{Reply, Script};
use crate::platform::core::{CoreClient, CoreSettings, IamSettings};

/// A server with an identity in the IAM.
fn core_settings() -> CoreSettings {
    CoreSettings {
        url: "http://core.test".to_owned(),
        api_key: None,
        iam: Some(IamSettings {
            url: "http://iam.test".to_owned(),
            tenant: None,
            audience: "control-plane".to_owned(),
            scopes: Vec::new(),
            token: Some("pat-1".to_owned()),
            mode: Some("ci".to_owned()),
            principal: None,
            file: None,
        }),
    }
}

fn store_settings() -> StoreSettings {
    StoreSettings {
        url: Some("http://store.test".to_owned()),
        audience: "openbao".to_owned(),
        scopes: vec!["secrets:read".to_owned()],
        role: None,
    }
}

fn core_client(script: &Arc<Script>, clock: &Clock) -> Arc<CoreClient> {
    let mut client = CoreClient::new(&core_settings(), Arc::clone(script) as _, clock);
    client.retry_window = Duration::ZERO;
    Arc::new(client)
}

/// The context of a call, with `settings` of the store.
fn context_with(settings: &StoreSettings, script: &Arc<Script>, clock: &Clock) -> SkillContext {
    let client = ConnectionsClient::new(core_client(script, clock), settings, LONGEST_CACHE);
    let mut meta = Meta::new("test");
    meta.services.connections = Some(Arc::new(client));
    SkillContext::new("a@1", meta)
}

fn context(script: &Arc<Script>, clock: &Clock) -> SkillContext {
    context_with(&store_settings(), script, clock)
}

fn exchanged() -> Reply {
    Reply::Json(200, json!({"accessToken": "jwt-1", "expiresIn": 300}))
}

/// A core with one connection, and an IAM. Tests add the responses of the store.
fn script() -> Arc<Script> {
    let known = || described("active");
    Script::new([(
        "platform-access-tokens:exchange",
        [exchanged(), exchanged(), exchanged()],
    )])
    .then("/agents/me/connections/", [known(), known(), known(), known()])
    .then("/agents/me", [Reply::Json(200, json!({"principalId": "p1"}))])
}

fn described(status: &str) -> Reply {
    let document = json!({
        "key": "crm",
        "type": "crm",
        "status": status,
        "secretRef": "kv/data/tenants/t/connections/crm",
    });
    Reply::Json(200, document)
}

fn logged_in(token: &str) -> Reply {
    Reply::Json(
        200,
        json!({"auth": {"client_token": token, "lease_duration": 300}}),
    )
}

fn material(token: &str) -> Reply {
    Reply::Json(200, json!({"data": {"data": {"access_token": token}}}))
}

/// The code, whether it is retryable, and the reason.
fn told(error: &crate::error::SkillError) -> (String, bool, Value) {
    let reason = error
        .details()
        .map_or(Value::Null, |details| details["reason"].clone());
    (error.code().to_owned(), error.is_retryable(), reason)
}
