//! Hygiene: the expansion works without the prelude, and items of the user with the same names do not affect it.

mod bare {
    #![no_implicit_prelude]

    #[::skill_sdk::skill("hygiene.inputs", version = "1", side_effects = "none", risk = "low")]
    pub(super) async fn inputs(
        inputs: ::serde_json::Value,
        ctx: &::skill_sdk::SkillContext,
    ) -> ::std::result::Result<::serde_json::Value, ::skill_sdk::SkillError> {
        let _ = ctx.skill();
        ::std::result::Result::Ok(inputs)
    }

    #[::skill_sdk::skill(
        "hygiene.fields", version = "1", side_effects = "none", risk = "low",
        cost_model = (unit = "call", estimate = 1), preconditions = ["x"],
        implementation = mcp("stdio:acme", tool = "t", audience = "a"), examples = ::serde_json::json!([])
    )]
    pub(super) fn fields(
        /// A number.
        #[schemars(range(min = 1))]
        #[serde(default)]
        number: u8,
        text: ::std::option::Option<::std::string::String>,
    ) -> ::std::string::String {
        let _ = number;
        ::std::option::Option::unwrap_or_default(text)
    }

    #[::skill_sdk::skill("hygiene.nothing", version = "1", side_effects = "none", risk = "low")]
    pub(super) fn nothing() {}

    #[derive(::std::fmt::Debug, ::skill_sdk::SkillFailure)]
    pub(super) enum Lost {
        #[failure(code = "lost", retryable)]
        Branch,
    }

    impl ::std::fmt::Display for Lost {
        fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
            f.write_str("lost")
        }
    }

    impl ::std::error::Error for Lost {}

    #[::skill_sdk::skill("hygiene.failure", version = "1", side_effects = "none", risk = "low")]
    pub(super) fn failure() -> ::std::result::Result<(), Lost> {
        ::std::result::Result::Err(Lost::Branch)
    }

    pub(super) struct Pool;

    #[::skill_sdk::state]
    fn pool() -> Pool {
        Pool
    }

    #[::skill_sdk::skill("hygiene.state", version = "1", side_effects = "none", risk = "low")]
    pub(super) async fn state(
        ctx: &::skill_sdk::SkillContext,
    ) -> ::std::result::Result<(), ::skill_sdk::SkillError> {
        ctx.state::<Pool>().await?;
        ::std::result::Result::Ok(())
    }
}

/// Every item here has the name of something that the expansion uses.
#[allow(
    dead_code,
    non_camel_case_types,
    unused_macros,
    reason = "the items exist only to conflict with names of the expansion"
)]
mod shadowed {
    use skill_sdk::skill;

    mod std {}
    mod core {}
    mod serde {}
    mod serde_json {}
    mod schemars {}
    mod inventory {}
    struct String;
    struct Vec;
    struct Option;
    struct Box;
    struct Result;
    struct Some;
    struct Ok;
    struct Inputs;
    trait Send {}
    trait Into {}
    trait From {}
    trait Default {}
    trait Fn {}
    trait Future {}
    fn inputs() {}
    fn context() {}
    fn returned() {}
    macro_rules! vec {
        () => {};
    }
    macro_rules! env {
        () => {};
    }

    #[derive(::schemars::JsonSchema, ::serde::Deserialize, ::serde::Serialize)]
    #[schemars(crate = "::schemars")]
    #[serde(crate = "::serde")]
    pub(super) struct Flag {
        on: bool,
    }

    #[skill("hygiene.shadowed", version = "1", side_effects = "none", risk = "low", preconditions = [1])]
    pub(super) async fn shadowed(
        flag: Flag,
        other: bool,
        context_: i8,
        ctx: &skill_sdk::SkillContext,
    ) -> Flag {
        let _ = (ctx, context_);
        Flag { on: flag.on && other }
    }
}

use serde_json::json;

use super::call;

#[test]
fn the_expansion_works_without_a_prelude() {
    assert_eq!(
        call(bare::inputs::SKILL, json!({"a": 1})).unwrap(),
        json!({"result": {"a": 1}})
    );
    assert_eq!(
        call(bare::fields::SKILL, json!({"text": "a"})).unwrap(),
        json!({"result": "a"})
    );
    assert_eq!(call(bare::nothing::SKILL, json!({})).unwrap(), json!({}));
    assert_eq!(call(bare::failure::SKILL, json!({})).unwrap_err().code(), "lost");
    assert_eq!(call(bare::state::SKILL, json!({})).unwrap(), json!({}));
}

#[test]
fn the_expansion_works_beside_conflicting_names() {
    let inputs = json!({"flag": {"on": true}, "other": true, "context_": 1});
    assert_eq!(
        call(shadowed::shadowed::SKILL, inputs).unwrap(),
        json!({"on": true})
    );
}
