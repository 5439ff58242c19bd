//! What the providers say to the schemas that the SDK makes: of Rust types, and of the examples.

use clap::ValueEnum;
use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::errors;
use super::{Provider, check_tool};
use skill_sdk::contract::schema;

/// Derives for inputs whose schema alone is looked at.
macro_rules! types {
    ($($item:item)*) => { $(
        #[derive(Debug, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        #[allow(dead_code, reason = "only its schema is looked at")]
        $item
    )* };
}

types! {
    pub(super) struct Field<T> { v: T }
    pub(super) struct Nothing {}
    pub(super) struct Maybe { v: Option<String> }
    pub(super) struct Word { #[serde(default)] v: String }
    pub(super) struct Number { #[schemars(range(min = 1, max = 9))] v: u8 }
    pub(super) struct Text { #[schemars(length(max = 9), regex(pattern = "^a"))] v: String }
    pub(super) struct Tree { children: Vec<Tree> }
    pub(super) struct MaybeTree { #[serde(default)] children: Vec<MaybeTree> }
    pub(super) struct Renamed { #[serde(rename = "dry run")] dry_run: bool }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[allow(dead_code, reason = "only its schema is looked at")]
pub(super) struct Open {
    v: bool,
}

/// How bad it is.
#[derive(Debug, Deserialize, JsonSchema)]
#[allow(dead_code, reason = "only its schema is looked at")]
pub(super) enum Level {
    /// It can wait.
    Low,
    /// It cannot.
    High,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(tag = "kind", deny_unknown_fields)]
#[allow(dead_code, reason = "only its schema is looked at")]
pub(super) enum Choice {
    Circle { radius: f64 },
    Square { side: f64 },
}

fn inputs<T: JsonSchema>() -> Value {
    schema::inputs::<T>().unwrap()
}

/// A Rust type, the schema of inputs of it, and the rules that it breaks.
pub(super) fn types() -> Vec<(&'static str, Value, &'static str)> {
    vec![
        (
            "no fields",
            inputs::<Nothing>(),
            "gemini.openapi_properties openai.strict_required",
        ),
        ("String", inputs::<Field<String>>(), ""),
        ("bool", inputs::<Field<bool>>(), ""),
        ("f64", inputs::<Field<f64>>(), ""),
        ("u32", inputs::<Field<u32>>(), "anthropic.strict_keyword"),
        ("Vec<String>", inputs::<Field<Vec<String>>>(), ""),
        ("enum without data", inputs::<Field<Level>>(), ""),
        (
            "open struct",
            inputs::<Open>(),
            "anthropic.strict_closed openai.strict_closed",
        ),
        (
            "Option<String>",
            inputs::<Maybe>(),
            "anthropic.strict_type_list gemini.openapi_type openai.strict_required",
        ),
        (
            "default",
            inputs::<Word>(),
            "gemini.keyword openai.strict_keyword openai.strict_required",
        ),
        ("range", inputs::<Number>(), "anthropic.strict_keyword"),
        (
            "length and pattern",
            inputs::<Text>(),
            "anthropic.strict_keyword gemini.keyword openai.strict_keyword",
        ),
        (
            "char",
            inputs::<Field<char>>(),
            "anthropic.strict_keyword gemini.keyword openai.strict_keyword",
        ),
        (
            "map",
            inputs::<Field<BTreeMap<String, bool>>>(),
            "anthropic.strict_closed gemini.openapi_map gemini.openapi_properties openai.strict_closed",
        ),
        (
            "set",
            inputs::<Field<BTreeSet<String>>>(),
            "anthropic.strict_keyword gemini.keyword gemini.openapi_keyword openai.strict_keyword",
        ),
        (
            "tuple",
            inputs::<Field<(bool, String)>>(),
            "anthropic.strict_keyword anthropic.strict_min_items",
        ),
        (
            "Value",
            inputs::<Field<Value>>(),
            "anthropic.strict_type gemini.openapi_type openai.strict_type",
        ),
        (
            "enum with data",
            inputs::<Field<Choice>>(),
            "anthropic.strict_keyword gemini.openapi_keyword openai.strict_keyword",
        ),
        (
            "type in a list of itself",
            inputs::<Tree>(),
            "anthropic.strict_recursion gemini.openapi_keyword gemini.recursion",
        ),
        (
            "the same, optional",
            inputs::<MaybeTree>(),
            "anthropic.strict_recursion gemini.openapi_keyword openai.strict_required",
        ),
        (
            "name with a space",
            inputs::<Renamed>(),
            "anthropic.property_name gemini.openapi_property_name",
        ),
    ]
}

#[test]
fn rust_types_break_these_rules_and_no_others() {
    let mut differ = String::new();
    for (what, schema, expected) in types() {
        let found: BTreeSet<_> = Provider::value_variants()
            .iter()
            .flat_map(|provider| check_tool(*provider, "tool", "", &schema))
            .map(|finding| finding.rule)
            .collect();
        let found = found.into_iter().collect::<Vec<_>>().join(" ");
        if found != expected {
            differ.push_str(&format!("{what}: {found}\n{schema}\n"));
        }
    }
    assert!(differ.is_empty(), "{differ}");
}

/// The specs of the examples with their names, as they are in their packages.
pub(super) fn examples() -> Vec<(String, Value)> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
    let mut specs = Vec::new();
    for example in ["hello", "claims", "git"] {
        let skills = folder.join(example).join("package/skills");
        let files: Vec<_> = std::fs::read_dir(&skills)
            .unwrap_or_else(|error| panic!("{}: {error}", skills.display()))
            .collect();
        assert!(!files.is_empty(), "{example}");
        for file in files {
            let text = std::fs::read(file.unwrap().path()).unwrap();
            let document = skill_sdk::contract::package::yaml::read(&text).unwrap();
            let name = document["key"].as_str().unwrap().to_owned();
            specs.push((name, document["spec"].clone()));
        }
    }
    specs
}

#[test]
fn no_provider_refuses_the_examples() {
    for (name, spec) in examples() {
        let description = spec["description"].as_str().unwrap();
        for provider in Provider::value_variants() {
            let found = check_tool(*provider, &name, description, &spec["contract"]["inputs"]);
            assert!(errors(&found).is_empty(), "{name}: {:#?}", errors(&found));
        }
    }
}
