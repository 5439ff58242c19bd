//! The places where a skill can be declared.

use serde_json::json;
use skill_sdk::{Registry, Skill, skill};

use super::call;

mod private {
    pub(super) mod deeper {
        use skill_sdk::skill;

        #[skill("scope.nested", version = "1", side_effects = "none", risk = "low")]
        pub(in crate::pass) fn nested() -> u8 {
            super::hidden()
        }

        pub(super) const NESTED: &skill_sdk::Skill = nested::SKILL;
    }

    pub(super) const NESTED: &skill_sdk::Skill = deeper::NESTED;

    #[skill_sdk::skill("scope.hidden", version = "1", side_effects = "none", risk = "low")]
    fn hidden() -> u8 {
        4
    }

    #[allow(
        dead_code,
        reason = "another skill of the same function name in another scope"
    )]
    #[skill_sdk::skill("scope.nested", version = "2", side_effects = "none", risk = "low")]
    fn nested() -> u8 {
        5
    }
}

/// A skill whose types exist only within one function.
fn local() -> &'static Skill {
    use serde::{Deserialize, Serialize};

    #[derive(Deserialize, schemars::JsonSchema)]
    struct Merge {
        branch: String,
    }

    #[derive(Serialize, schemars::JsonSchema)]
    struct Merged {
        branch: String,
    }

    #[skill("scope.local", version = "1", side_effects = "none", risk = "low")]
    async fn merge(inputs: Merge) -> Merged {
        Merged {
            branch: inputs.branch,
        }
    }

    #[derive(Deserialize, schemars::JsonSchema)]
    struct Depth(u8);

    #[skill("scope.local_field", version = "1", side_effects = "none", risk = "low")]
    #[allow(dead_code, reason = "only a server calls it")]
    fn depth(depth: Depth) -> u8 {
        depth.0
    }

    merge::SKILL
}

#[cfg(any())]
#[skill("scope.never", version = "1", side_effects = "none", risk = "low")]
fn conditional(inputs: DoesNotExist) {}

#[cfg(not(any()))]
#[skill("scope.always_above", version = "1", side_effects = "none", risk = "low")]
fn conditional() -> &'static str {
    "above"
}

#[skill("scope.never_below", version = "1", side_effects = "none", risk = "low")]
#[cfg(any())]
fn below(inputs: DoesNotExist) {}

#[skill("scope.always_below", version = "1", side_effects = "none", risk = "low")]
#[cfg(not(any()))]
fn below() -> &'static str {
    "below"
}

#[skill(
    "scope.never_in_an_attribute",
    version = "1",
    side_effects = "none",
    risk = "low"
)]
#[cfg_attr(all(), inline, cfg(any()))]
fn conditional_attribute(inputs: DoesNotExist) {}

#[skill(
    "scope.always_in_an_attribute",
    version = "1",
    side_effects = "none",
    risk = "low"
)]
#[cfg_attr(all(), cfg(all()), deprecated, doc(hidden, alias = "old"))]
#[cfg_attr(any(), cfg(any()))]
fn conditional_attribute() {}

#[cfg_attr(
    all(),
    skill("scope.attribute", version = "1", side_effects = "none", risk = "low")
)]
fn attribute() {}

#[cfg_attr(any(), skill("scope.no_attribute", version = "1", side_effects = "none"))]
#[allow(dead_code, reason = "it is not a skill in this build")]
fn no_attribute() {}

macro_rules! declare {
    ($($name:ident: $ty:ty = $text:literal, $risk:ident, $timeout:expr;)*) => {$(
        #[skill($text, version = "1", side_effects = "none", risk = $risk, timeout = $timeout)]
        fn $name(value: $ty) -> $ty {
            value
        }
    )*};
}

declare! {
    number: u8 = "scope.macro_number", low, 5;
    text: Option<String> = "scope.macro_text", medium, 6;
}

#[test]
fn skills_in_all_scopes_are_registered() {
    let registry = Registry::collect().unwrap();
    let found: Vec<&str> = registry
        .iter()
        .map(Skill::reference)
        .filter(|reference| reference.starts_with("scope."))
        .collect();
    assert_eq!(
        found,
        [
            "scope.always_above@1",
            "scope.always_below@1",
            "scope.always_in_an_attribute@1",
            "scope.attribute@1",
            "scope.hidden@1",
            "scope.local@1",
            "scope.local_field@1",
            "scope.macro_number@1",
            "scope.macro_text@1",
            "scope.nested@1",
            "scope.nested@2",
        ]
    );
}

#[test]
fn skills_work_in_all_scopes() {
    assert_eq!(
        call(private::deeper::nested::SKILL, json!({})).unwrap(),
        json!({"result": 4})
    );
    assert_eq!(private::deeper::nested(), 4);
    assert_eq!(private::NESTED.reference(), "scope.nested@1");
    let branch = json!({"branch": "a"});
    assert_eq!(call(local(), branch.clone()).unwrap(), branch);
    assert_eq!(
        call(conditional::SKILL, json!({})).unwrap(),
        json!({"result": "above"})
    );
    assert_eq!(call(below::SKILL, json!({})).unwrap(), json!({"result": "below"}));
    assert_eq!(attribute::SKILL.name(), "scope.attribute");
    assert_eq!(
        call(number::SKILL, json!({"value": 4})).unwrap(),
        json!({"result": 4})
    );
    assert_eq!(call(text::SKILL, json!({})).unwrap(), json!({"result": null}));
    attribute();
}
