//! Requests to the core over a transport that follows a script.

mod credentials;
mod failures;
mod files;
mod requests;
pub(crate) mod script;

use std::sync::Arc;
use std::time::Duration;

use self::script::Script;
use super::{CoreClient, CoreSettings};
use crate::context::{Meta, SkillContext};
use crate::platform::clock::Clock;

/// A core with a key.
pub(super) fn with_key() -> CoreSettings {
    CoreSettings {
        url: "http://core.test".to_owned(),
        api_key: Some("key-1".to_owned()),
        iam: None,
    }
}

/// The context of a call that uses `script`.
pub(super) fn context(settings: &CoreSettings, script: &Arc<Script>, clock: &Clock) -> SkillContext {
    let client = CoreClient::new(settings, Arc::clone(script) as _, clock);
    context_of(Arc::new(client), None)
}

/// The context of a call with this client, and with this much time.
pub(super) fn context_of(client: Arc<CoreClient>, time: Option<Duration>) -> SkillContext {
    let mut meta = Meta::new("test");
    meta.services.core = Some(client);
    meta.timeout = time;
    SkillContext::new("a@1", meta)
}
