//! What the providers say to the schemas that the SDK makes: of Rust types, and of the examples.

use clap::ValueEnum;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use skill_sdk::contract::schema;
use skill_sdk::host::args::ToolOptions;

use super::{Provider, check_tool};
use crate::provider::served;
use crate::sample::skill;

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
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
    let mut specs = Vec::new();
    for example in fs::read_dir(folder).unwrap() {
        let Ok(files) = fs::read_dir(example.unwrap().path().join("package/skills")) else {
            continue;
        };
        for file in files {
            let text = fs::read(file.unwrap().path()).unwrap();
            let document = skill_sdk::contract::package::yaml::read(&text).unwrap();
            let name = document["key"].as_str().unwrap().to_owned();
            specs.push((name, document["spec"].clone()));
        }
    }
    assert!(specs.len() > 30, "{}", specs.len());
    specs
}

/// The contracts of the recorded cases; none where they are not at hand.
fn recorded() -> Vec<(String, Value)> {
    let folder = match std::env::var_os("SKILL_SDK_CASES") {
        Some(folder) => folder.into(),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/cases"),
    };
    let Ok(text) = fs::read_to_string(folder.join("skills.json")) else {
        eprintln!("skipped: the recorded cases are missing");
        return Vec::new();
    };
    let document: Value = serde_json::from_str(&text).unwrap();
    let skills = document["skills"].as_array().unwrap().iter();
    skills
        .map(|skill| (skill["name"].as_str().unwrap().to_owned(), skill.clone()))
        .collect()
}

/// A type that contains itself.
#[derive(Debug, Deserialize, JsonSchema)]
#[allow(dead_code, reason = "only its schema is looked at")]
struct Chain {
    /// The next one.
    next: Option<Box<Chain>>,
}

/// A choice of what is done.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(tag = "action", rename_all = "snake_case")]
#[allow(dead_code, reason = "only its schema is looked at")]
enum Action {
    Add { title: String, note: Option<String> },
    Remove { id: u64 },
    List,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[allow(dead_code, reason = "only its schema is looked at")]
enum External {
    Add { title: String },
    Remove(Numbers),
    List,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
#[allow(dead_code, reason = "only its schema is looked at")]
enum Source {
    Text { content: String },
    Link { url: String },
}

#[derive(Debug, Deserialize, JsonSchema)]
#[allow(dead_code, reason = "only its schema is looked at")]
struct Attach {
    caption: String,
    #[serde(flatten)]
    source: Source,
    #[serde(flatten)]
    action: Action,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[allow(dead_code, reason = "only its schema is looked at")]
struct Numbers {
    small: (i64, u64),
    size: usize,
    large: Vec<(i128, u128)>,
    optional: Option<u64>,
    #[serde(default = "most")]
    most: u64,
}

fn most() -> u64 {
    u64::MAX
}

/// The fatal findings in tools of these names and specs.
fn fatal(specs: impl IntoIterator<Item = (String, Value)>) -> Vec<String> {
    let mut skills = Vec::new();
    for (name, spec) in specs {
        let mut entry = skill(&format!("{name}@1"), "x::a");
        entry.spec["description"] = spec["description"].clone();
        entry.spec["contract"]["inputs"] = spec["contract"]["inputs"].clone();
        skills.push(entry);
    }
    skills.sort_by(|a, b| a.name.cmp(&b.name));
    served::fatal(&skills.iter().collect::<Vec<_>>(), ToolOptions::default())
}

#[test]
fn no_provider_rejects_what_is_served() {
    assert_eq!(fatal(examples()), [""; 0]);
    let mut recorded = fatal(recorded());
    // An enum with 1e20, which is there for the writer of YAML.
    recorded
        .retain(|message| !(message.contains("yaml.tricky@1") && message.ends_with("[anthropic.integer]")));
    assert_eq!(recorded, [""; 0]);
    let more = [
        ("chain", inputs::<Chain>()),
        ("action", inputs::<Action>()),
        ("external", inputs::<External>()),
        ("attach", inputs::<Attach>()),
        ("numbers", inputs::<Numbers>()),
        ("actions", inputs::<Field<Vec<Action>>>()),
        ("source", inputs::<Source>()),
    ];
    let all = types()
        .into_iter()
        .map(|(name, schema, _)| (name, schema))
        .chain(more);
    let specs = all.map(|(name, schema)| (name.to_owned(), json!({"contract": {"inputs": schema}})));
    // What the author alone can mend.
    let mended = |message: &String| {
        ["[anthropic.property_name]", "[gemini.recursion]"]
            .iter()
            .any(|rule| message.ends_with(rule))
    };
    let (own, others): (Vec<_>, Vec<_>) = fatal(specs).into_iter().partition(mended);
    assert_eq!(others, [""; 0]);
    assert_eq!(own.len(), 2, "{own:?}");
}
