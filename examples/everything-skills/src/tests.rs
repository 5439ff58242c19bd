//! Tests of the skills without a protocol.

use serde_json::json;
use skill_sdk::testing::{assert_package_matches, assert_valid_contract, invoke};
use skill_sdk::{Attachment, Registry, Skill};

use crate::{content, elicitation, multi_round, running, schemas};

#[test]
fn all_contracts_are_valid() {
    let registry = Registry::collect().unwrap();
    let skills: Vec<&'static Skill> = registry.iter().collect();
    assert!(skills.len() > 20);
    for skill in skills {
        assert_valid_contract(skill);
    }
}

#[test]
fn the_package_is_up_to_date() {
    assert_package_matches("package");
}

#[tokio::test]
async fn attachments_match_their_media_types() {
    for (skill, start) in [
        (content::image_content::SKILL, b"\x89PNG".as_slice()),
        (content::audio_content::SKILL, b"RIFF"),
        (content::embedded_resource::SKILL, b"This"),
    ] {
        let result = invoke(skill, json!({})).await.unwrap();
        assert_eq!(result.outputs, json!({}));
        assert!(result.attachments[0].bytes().starts_with(start));
    }
    let result = invoke(content::multiple_content_types::SKILL, json!({}))
        .await
        .unwrap();
    assert_eq!(
        result.attachments[0],
        Attachment::text("Multiple content types test:")
    );
    let error = invoke(content::error_handling::SKILL, json!({}))
        .await
        .unwrap_err();
    assert_eq!(error.code(), "intended");
}

#[tokio::test(start_paused = true)]
async fn each_step_takes_time() {
    for skill in [running::progress::SKILL, running::logging::SKILL] {
        assert!(invoke(skill, json!({})).await.is_ok());
    }
}

#[tokio::test]
async fn elicitation_returns_the_response() {
    let profile = json!({"name": "Jane", "age": 25, "score": 88.0, "status": "inactive", "verified": false});
    let result = invoke(elicitation::defaults::SKILL, json!({}))
        .answer("profile", profile)
        .await
        .unwrap();
    assert_eq!(
        result.outputs["result"],
        "Elicitation completed: action=accept, content={\"name\":\"Jane\",\"age\":25,\"score\":88.0,\
         \"status\":\"inactive\",\"verified\":false}"
    );
    let result = invoke(multi_round::multi_round::SKILL, json!({}))
        .answer("step1", json!({"name": "Ada"}))
        .answer("step2", json!({"color": "blue"}))
        .await
        .unwrap();
    assert_eq!(result.outputs["result"], "Ada likes blue.");
    let result = invoke(multi_round::multiple_inputs::SKILL, json!({}))
        .answer("user_name", json!({"name": "Ada"}))
        .respond(
            "greeting",
            json!({"role": "assistant", "content": {"type": "text", "text": "Hi!"}}),
        )
        .respond("client_roots", json!({"roots": [{"uri": "file:///a"}]}))
        .await
        .unwrap();
    assert_eq!(result.outputs["result"], "Hi! Ada works on 1 folders.");
}

#[tokio::test]
async fn a_handwritten_schema_is_enforced() {
    let reached = json!({"name": "Ada", "contactMethod": "phone", "phone": "1"});
    assert!(invoke(schemas::json_schema::SKILL, reached).await.is_ok());
    let unreached = json!({"name": "Ada", "contactMethod": "phone", "email": "a@b"});
    let error = invoke(schemas::json_schema::SKILL, unreached).await.unwrap_err();
    assert_eq!(error.code(), "input_contract_violation");
}
