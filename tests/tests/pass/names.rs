//! Names that are keywords of Rust or not ASCII.

use serde_json::json;
use skill_sdk::skill;

use super::{call, document};

#[skill("names.raw", version = "1", side_effects = "none", risk = "low")]
fn r#match(r#type: String, r#async: Option<u8>) -> String {
    format!("{type}{async:?}")
}

#[skill("имена.юникод", version = "версия", side_effects = "none", risk = "low", implementation = local("names:merge"))]
fn соединить(ветвь: String) -> String {
    ветвь
}

#[skill("names.mixed", version = "1", side_effects = "none", risk = "low")]
fn merge_ветвь() {}

#[skill("r#names", version = "r#1", side_effects = r"none", risk = r#"low"#)]
fn raw_strings() {}

#[test]
fn raw_identifiers_become_plain_field_names() {
    let outputs = call(r#match::SKILL, json!({"type": "a", "async": 1})).unwrap();
    assert_eq!(outputs, json!({"result": "aSome(1)"}));
    assert_eq!(
        document(r#match::SKILL)["contract"]["implementation"]["entrypoint"],
        "ui.pass.names:match"
    );
}

#[test]
fn names_can_be_in_any_script() {
    assert_eq!(соединить::SKILL.reference(), "имена.юникод@версия");
    let outputs = call(соединить::SKILL, json!({"ветвь": "ж"})).unwrap();
    assert_eq!(outputs, json!({"result": "ж"}));
    assert_eq!(
        document(merge_ветвь::SKILL)["contract"]["implementation"]["entrypoint"],
        "ui.pass.names:merge_ветвь"
    );
    assert_eq!(raw_strings::SKILL.reference(), "r#names@r#1");
}
