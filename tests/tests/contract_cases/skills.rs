//! Recorded skills that no other test calls: only their contracts are compared.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use skill_sdk::{Skill, skill};
use skill_sdk_tests::cases;

/// All of them.
pub(crate) const ALL: &[&Skill] = &[
    tree_recursive::SKILL,
    pet_union::SKILL,
    yaml_tricky::SKILL,
    description_multi::SKILL,
    description_trailing::SKILL,
    description_empty::SKILL,
    hosted_http::SKILL,
    hosted_mcp::SKILL,
    pre_post::SKILL,
    empty_io::SKILL,
];

/// The recorded input schema, which is handwritten.
fn inputs_of(reference: &str) -> Value {
    let skills = cases::document("skills.json").unwrap_or_default();
    let mut skills = skills["skills"].as_array().into_iter().flatten();
    let skill = skills.find(|skill| skill["ref"] == reference);
    skill.map_or_else(
        || json!({"type": "object"}),
        |skill| skill["contract"]["inputs"].clone(),
    )
}

/// A node.
#[derive(Deserialize, Serialize, JsonSchema)]
pub(crate) struct Node {
    value: i128,
    #[serde(default)]
    children: Vec<Node>,
}

#[skill(
    "tree.recursive",
    version = "1",
    side_effects = "none",
    risk = "low",
    description = "Recursive model."
)]
fn tree_recursive(inputs: Node) -> Node {
    inputs
}

/// A pet.
#[derive(Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub(crate) enum Pet {
    Cat {
        #[serde(default = "nine", rename = "lives")]
        _lives: i128,
    },
    Dog {
        #[serde(default, rename = "loud")]
        _loud: bool,
    },
}

fn nine() -> i128 {
    9
}

/// A pet among others.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct PetIn {
    pet: Pet,
}

/// Discriminated union.
#[skill("pet.union", version = "1", side_effects = "none", risk = "low")]
fn pet_union(inputs: PetIn) -> bool {
    matches!(inputs.pet, Pet::Cat { .. })
}

macro_rules! plain {
    ($($function:ident $name:literal $version:literal ($($argument:tt)*);)*) => {$(
        #[skill($name, version = $version, side_effects = "none", risk = "low", $($argument)*)]
        fn $function(inputs: Value) -> Value {
            inputs
        }
    )*};
}

plain! {
    yaml_tricky "yaml.tricky" "1.0" (
        inputs_schema = inputs_of("yaml.tricky@1.0"), outputs_schema = json!({"type": "object"}), timeout = 1,
        description = "Строка с двоеточием: и # решёткой, очень длинная строка, чтобы проверить перенос по ширине сто символов, а ещё 'кавычки' и \"двойные\"",
    );
    description_multi "desc.multi" "1" (
        inputs_schema = json!({"type": "object"}), outputs_schema = json!({"type": "object"}),
        description = "line one\nline two\n\nline four",
    );
    description_trailing "desc.trailing" "1" (
        inputs_schema = json!({"type": "object"}), outputs_schema = json!({"type": "object"}),
        description = "line one \nline two  ",
    );
    description_empty "desc.empty" "1" (
        inputs_schema = json!({"type": "object"}), outputs_schema = json!({"type": "object"}),
    );
    hosted_http "hosted.http" "1" (
        inputs_schema = json!({"type": "object"}), outputs_schema = json!({"type": "object"}),
        description = "Declared as http in code.",
        implementation = http("https://skills.example/skills/hosted.http@1", audience = "acme-skills"),
    );
    hosted_mcp "hosted.mcp" "1" (
        inputs_schema = json!({"type": "object"}), outputs_schema = json!({"type": "object"}),
        description = "Declared as mcp in code.", implementation = mcp("stdio:acme", tool = "other_tool"),
    );
    pre_post "pre.post" "1" (
        inputs_schema = json!({"type": "object"}), outputs_schema = json!({"type": "object"}),
        description = "Conditions.", preconditions = [json!("a")], postconditions = [json!({"x": 1})],
    );
}

#[skill("empty.io", version = "1", side_effects = "none", risk = "low")]
fn empty_io() {}
