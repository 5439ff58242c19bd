//! Credentials must not appear in logs, errors and outputs.

use serde_json::json;
use skill_sdk::context::States;
use skill_sdk::pipeline::{Call, Meta, SkillSet};
use skill_sdk::{Environment, SkillContext, SkillError, skill};
use skill_sdk_tests::log;

use super::faulty_server::Reply;
use super::mock_platform::{Fault, MATERIAL, Platform};

/// Uses every kind of credential.
#[skill("leaks.all", version = "1", side_effects = "external_read", risk = "low")]
async fn all(ctx: &SkillContext) -> Result<String, SkillError> {
    let crm = ctx.connection("crm").await?;
    let token = crm.access_token().await?;
    tracing::info!(?token, ?crm, ?ctx, "an author may log this");
    let artifact = ctx.artifacts().read("a-1").await?;
    Ok(format!("{token:?} {crm:?} {artifact:?}"))
}

#[tokio::test]
async fn credentials_are_not_leaked() {
    log::capture();
    let platform = Platform::start().await;
    platform
        .state()
        .artifacts
        .insert("a-1".to_owned(), (b"content-visible".to_vec(), None));
    let faults: [(&str, Option<(&'static str, Fault)>); 7] = [
        ("good", None),
        ("core", Some(("/artifacts/", Fault::Echo(400)))),
        ("core-down", Some(("/connections/", Fault::Instead(Reply::Hang)))),
        ("iam", Some(("exchange", Fault::Echo(401)))),
        ("iam-down", Some(("exchange", Fault::Echo(500)))),
        ("login", Some(("login", Fault::Echo(500)))),
        (
            "store",
            Some((
                "kv/data",
                Fault::Instead(Reply::json(200, &json!({"data": {"data": {"token": MATERIAL}}}))),
            )),
        ),
    ];
    let host = SkillSet::with_states([all::SKILL], States::default()).unwrap();
    for (name, fault) in faults {
        if let Some((part, fault)) = fault {
            platform.add_faults(part, [fault]);
        }
        let mut meta = Meta::new("test");
        let id = format!("leaks-{name}");
        meta.invocation_id = Some(id.clone());
        meta.timeout = Some(std::time::Duration::from_millis(if name == "core-down" {
            100
        } else {
            30_000
        }));
        // A new configuration creates a new client, so no cache is shared.
        let own = [("IAM_PRINCIPAL", name)];
        meta.environment = Environment::from_vars(platform.variables_with(&own));
        let completed = host
            .call(host.get("leaks.all@1").unwrap(), Call::json("{}", meta))
            .await;
        let document = completed.into_document();
        assert_eq!(document.is_ok(), name == "good", "{name}: {document:?}");
        let document = document.unwrap_or_else(|error| error);
        let shown = format!("{document} {:?}", log::of_call(&id));
        assert!(!shown.contains("visible"), "{name}: {shown}");
    }
}
