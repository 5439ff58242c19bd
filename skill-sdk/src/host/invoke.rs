//! One call, outside of any host.

use serde_json::Value;
use tokio::runtime::Builder;

use super::Refusal;
use super::protocol::{InvokeReply, InvokeRequest};
use crate::context::Environment;
use crate::pipeline::{Call, Meta, SkillSet, install_panic_hook};

/// The protocol that the context of such a call names.
const PROTOCOL: &str = "local";

/// Runs the call on a runtime of its own.
pub(super) fn reply(request: InvokeRequest) -> Result<InvokeReply, Refusal> {
    #[cfg(feature = "log")]
    let log = super::logging::start(super::logging::LogFormat::Text);
    install_panic_hook();
    let host = SkillSet::collect_only(&[&request.reference]).map_err(|error| error.to_string())?;
    let Some(runnable) = host.get(&request.reference).cloned() else {
        return Err(format!("this program has no skill {}", request.reference));
    };
    let mut meta = Meta::new(PROTOCOL);
    meta.idempotency_key = request.idempotency_key;
    if let Some(Value::Object(values)) = request.settings {
        meta.settings = values;
    }
    if !request.env.is_empty() {
        meta.environment = Environment::overlay(request.env);
    }
    let runtime = Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| format!("cannot start the runtime: {error}"))?;
    let completed = runtime.block_on(host.call(&runnable, Call::value(&request.inputs, meta)));
    // A blocking skill that is over its time must not hold up the end of the program.
    runtime.shutdown_background();
    #[cfg(feature = "log")]
    log.finish();
    Ok(match completed.into_document() {
        Ok(document) => InvokeReply { ok: true, document },
        Err(document) => InvokeReply { ok: false, document },
    })
}
