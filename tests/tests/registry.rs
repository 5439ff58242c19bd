//! Registration of skills, and every supported signature of a skill function.

#![allow(clippy::unwrap_used, reason = "a panic in a test is a failed test")]
#![allow(
    clippy::unused_async,
    clippy::unnecessary_wraps,
    clippy::needless_pass_by_value,
    reason = "the signatures of the skills are part of the tests"
)]

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use skill_sdk::testing::{assert_valid_contract, invoke};
use skill_sdk::{Registry, Skill, SkillContext, SkillError, SkillFailure, skill};

#[derive(Deserialize, JsonSchema)]
struct Merge {
    branch: String,
    #[serde(default)]
    times: u8,
}

#[derive(Serialize, JsonSchema)]
struct Merged {
    branch: String,
}

/// The whole input.
#[skill("shapes.inputs", version = "1", side_effects = "none", risk = "low")]
fn inputs(inputs: Merge) -> Merged {
    Merged {
        branch: inputs.branch.repeat(inputs.times.into()),
    }
}

/// The whole input, taken apart.
#[skill("shapes.pattern", version = "1", side_effects = "none", risk = "low")]
async fn pattern(#[inputs] Merge { branch, .. }: Merge) -> Merged {
    Merged { branch }
}

/// Fields as parameters.
#[skill("shapes.fields", version = "1", side_effects = "none", risk = "low")]
async fn fields(
    /// The city, as people write it.
    city: String,
    /// Days ahead.
    #[schemars(range(min = 1, max = 14))]
    #[serde(default)]
    days: Option<u8>,
    #[serde(rename = "kind")] r#type: Cow<'static, str>,
    ctx: &SkillContext,
) -> String {
    format!("{city} {days:?} {type} {}", ctx.skill())
}

/// No parameters at all.
#[skill("shapes.empty", version = "1", side_effects = "none", risk = "low")]
fn empty() -> u8 {
    1
}

/// The context first, by value.
#[skill("shapes.context_first", version = "1", side_effects = "none", risk = "low")]
async fn context_first(ctx: SkillContext, inputs: Merge) -> Result<Merged, SkillError> {
    ctx.check_deadline()?;
    Ok(Merged {
        branch: inputs.branch,
    })
}

/// Only the context.
#[skill("shapes.context_only", version = "1", side_effects = "none", risk = "low")]
fn context_only(_: &SkillContext) -> Result<(), std::io::Error> {
    Ok(())
}

/// An error of its own.
#[derive(Debug, SkillFailure)]
#[failure(code = "own")]
struct Own;

impl std::fmt::Display for Own {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("own")
    }
}

impl std::error::Error for Own {}

/// Becomes a failure of the library.
#[skill("shapes.own_error", version = "1", side_effects = "none", risk = "low")]
async fn own_error(fail: bool) -> Result<bool, Own> {
    if fail { Err(Own) } else { Ok(true) }
}

/// Any error.
#[skill("shapes.any_error", version = "1", side_effects = "none", risk = "low")]
fn any_error(#[serde(default)] mut list: Vec<u8>) -> anyhow::Result<Vec<u8>> {
    list.sort_unstable();
    Ok(list)
}

/// Schemas of its own.
#[skill(
    "shapes.schemas", version = "1", side_effects = "none", risk = "low",
    inputs_schema = json!({"type": "object", "required": ["a"]}), outputs_schema = json!({"type": "object"}),
)]
fn schemas(inputs: Value) -> Value {
    inputs
}

/// A name that is a word of the language.
#[skill("shapes.raw", version = "1", side_effects = none, risk = low)]
fn r#match() {}

mod outer {
    mod inner {
        use skill_sdk::{Skill, skill};

        /// In a private module.
        #[skill("found.private", version = "1", side_effects = "none", risk = "low")]
        fn private() {}

        pub(crate) const HERE: &Skill = private::SKILL;
    }

    pub(crate) use inner::HERE;

    #[cfg(any(unix, windows))]
    mod chosen {
        /// Behind a true condition.
        #[::skill_sdk::skill("found.chosen", version = "1", side_effects = "none", risk = "low")]
        #[cfg(not(target_os = "none"))]
        fn chosen() {}
    }

    /// Behind a false condition: the type does not exist.
    #[cfg(any())]
    #[skill_sdk::skill("found.absent", version = "1", side_effects = "none", risk = "low")]
    fn absent(inputs: NoSuchType) {}
}

/// Registered although it is never called.
#[expect(dead_code, reason = "only the declarations in it matter")]
fn never_called() {
    #[derive(Deserialize, JsonSchema)]
    struct Local {
        _a: u8,
    }

    /// In the body of a function, with types of that body.
    #[skill("found.body", version = "1", side_effects = "none", risk = "low")]
    fn in_body(inputs: Local) {
        let _ = inputs;
    }
}

const _: () = {
    /// In a constant without a name.
    #[skill("found.constant", version = "1", side_effects = "none", risk = "low")]
    fn in_constant() {}
};

mod versions {
    macro_rules! version {
        ($($function:ident $version:literal)*) => {$(
            /// One of many.
            #[skill_sdk::skill("versions.many", version = $version, side_effects = "none", risk = "low")]
            fn $function() {}
        )*};
    }

    version! { v10 "10" v9 "9" v1_10 "1.10" v1_9 "1.9" v1 "1" beta "beta" }
}

/// Another name of the same declaration is not another skill.
const ALIAS: &Skill = empty::SKILL;

#[test]
fn all_linked_skills_are_collected_and_sorted() {
    let registry = Registry::collect().unwrap();
    let own: Vec<_> = registry.iter().map(Skill::reference).collect();
    let expected = [
        "found.body@1",
        "found.chosen@1",
        "found.constant@1",
        "found.private@1",
        "shapes.any_error@1",
        "shapes.context_first@1",
        "shapes.context_only@1",
        "shapes.empty@1",
        "shapes.fields@1",
        "shapes.inputs@1",
        "shapes.own_error@1",
        "shapes.pattern@1",
        "shapes.raw@1",
        "shapes.schemas@1",
        "versions.many@beta",
        "versions.many@1",
        "versions.many@1.9",
        "versions.many@1.10",
        "versions.many@9",
        "versions.many@10",
    ];
    assert_eq!(own, expected);
    assert_eq!(registry.iter().len(), expected.len());
    for reference in expected {
        assert_eq!(registry.get(reference).unwrap().reference(), reference);
    }
    for reference in ["found.absent@1", "shapes.empty", "shapes.empty@2", ""] {
        assert!(registry.get(reference).is_none(), "{reference}");
    }
}

#[test]
fn a_registry_can_contain_selected_skills() {
    let registry = Registry::from_skills([inputs::SKILL, outer::HERE, empty::SKILL, ALIAS]).unwrap();
    let refs: Vec<_> = registry.iter().map(Skill::reference).collect();
    assert_eq!(
        refs,
        ["found.private@1", "shapes.empty@1", "shapes.inputs@1"],
        "the same skill twice is one"
    );
    assert_eq!(Registry::from_skills([]).unwrap().iter().len(), 0);
}

#[test]
fn every_signature_runs() {
    let table: [(&'static Skill, Value, Value); 12] = [
        (
            inputs::SKILL,
            json!({"branch": "ab", "times": 2}),
            json!({"branch": "abab"}),
        ),
        (pattern::SKILL, json!({"branch": "ab"}), json!({"branch": "ab"})),
        (
            fields::SKILL,
            json!({"city": "Riga", "days": 3, "kind": "k"}),
            json!({"result": "Riga Some(3) k shapes.fields@1"}),
        ),
        (
            fields::SKILL,
            json!({"city": "Riga", "kind": ""}),
            json!({"result": "Riga None  shapes.fields@1"}),
        ),
        (empty::SKILL, json!({}), json!({"result": 1})),
        (
            context_first::SKILL,
            json!({"branch": "b"}),
            json!({"branch": "b"}),
        ),
        (context_only::SKILL, json!({}), json!({})),
        (own_error::SKILL, json!({"fail": false}), json!({"result": true})),
        (
            any_error::SKILL,
            json!({"list": [2, 1]}),
            json!({"result": [1, 2]}),
        ),
        (any_error::SKILL, json!({}), json!({"result": []})),
        (schemas::SKILL, json!({"a": [null]}), json!({"a": [null]})),
        (r#match::SKILL, json!({}), json!({})),
    ];
    for (skill, inputs, expected) in table {
        assert_valid_contract(skill);
        let result = invoke(skill, &inputs).blocking();
        assert_eq!(
            result.unwrap().outputs,
            expected,
            "{} {inputs}",
            skill.reference()
        );
    }
    let error = invoke(own_error::SKILL, json!({"fail": true}))
        .blocking()
        .unwrap_err();
    assert_eq!((error.code(), error.message()), ("own", "own"));
    for (skill, inputs) in [
        (fields::SKILL, json!({"city": "Riga", "kind": "", "days": 15})),
        (fields::SKILL, json!({"city": "Riga", "type": ""})),
        (fields::SKILL, json!({"days": 1, "kind": ""})),
        (inputs::SKILL, json!({"times": 1})),
        (schemas::SKILL, json!({})),
    ] {
        let error = invoke(skill, &inputs).blocking().unwrap_err();
        assert_eq!(
            error.code(),
            "input_contract_violation",
            "{} {inputs}",
            skill.reference()
        );
    }
}

/// The function is still an ordinary function.
#[tokio::test]
async fn functions_stay_callable() {
    assert_eq!(
        inputs(Merge {
            branch: "a".into(),
            times: 2
        })
        .branch,
        "aa"
    );
    assert_eq!(
        pattern(Merge {
            branch: "a".into(),
            times: 2
        })
        .await
        .branch,
        "a"
    );
    assert_eq!(any_error(vec![2, 1]).unwrap(), [1, 2]);
    assert_eq!(own_error(true).await.unwrap_err().to_string(), "own");
}

#[test]
fn contracts_are_derived_from_attribute_docs_and_types() {
    let described = fields::SKILL.described().unwrap();
    let spec = described.document();
    assert_eq!(spec["description"], "Fields as parameters.");
    let contract = &spec["contract"];
    assert_eq!(
        contract["implementation"],
        json!({"protocol": "local", "entrypoint": "registry:fields"})
    );
    let properties = contract["inputs"]["properties"].as_object().unwrap();
    assert_eq!(
        properties.keys().collect::<Vec<_>>(),
        ["city", "days", "kind"],
        "the context is not a field"
    );
    assert_eq!(properties["city"]["description"], "The city, as people write it.");
    assert_eq!(properties["days"]["description"], "Days ahead.");
    assert_eq!(contract["inputs"]["required"], json!(["city", "kind"]));
    let defaults = [
        ("idempotency", json!("none")),
        ("timeoutSeconds", json!(60)),
        ("retryPolicy", json!({"maxAttempts": 1, "backoffSeconds": 0})),
    ];
    for (key, value) in defaults {
        assert_eq!(contract[key], value);
    }
    let keys: Vec<_> = contract.as_object().unwrap().keys().collect();
    assert_eq!(
        keys,
        [
            "inputs",
            "outputs",
            "idempotency",
            "timeoutSeconds",
            "retryPolicy",
            "implementation"
        ]
    );
    let entrypoint = |skill: &Skill| {
        let document = skill.described().unwrap().document();
        document["contract"]["implementation"]["entrypoint"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert_eq!(entrypoint(outer::HERE), "registry.outer.inner:private");
    assert_eq!(entrypoint(r#match::SKILL), "registry:match");
    for side in ["inputs", "outputs"] {
        let first = contract[side].as_object().unwrap().keys().next().unwrap();
        assert_eq!(first, "$schema");
        assert_eq!(
            contract[side]["$schema"],
            "https://json-schema.org/draft/2020-12/schema"
        );
    }
}
