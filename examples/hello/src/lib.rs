//! The smallest crate with a skill.

use skill_sdk::skill;

/// Greet a person by name.
#[skill("hello.greet", version = "1", side_effects = "none", risk = "low")]
fn greet(
    /// The name of the person.
    name: String,
) -> String {
    format!("Hello, {name}!")
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use skill_sdk::testing::{assert_package_matches, assert_valid_contract, invoke};

    use super::greet;

    #[test]
    fn the_contract_is_valid() {
        assert_valid_contract(greet::SKILL);
    }

    #[test]
    fn the_package_is_up_to_date() {
        assert_package_matches("package");
    }

    #[test]
    fn the_name_is_greeted() {
        let result = invoke(greet::SKILL, json!({"name": "Ada"})).blocking().unwrap();
        assert_eq!(result.outputs, json!({"result": "Hello, Ada!"}));
    }

    #[test]
    fn the_name_is_required() {
        let error = invoke(greet::SKILL, json!({"nmae": "Ada"}))
            .blocking()
            .unwrap_err();
        assert_eq!(error.code(), "input_contract_violation");
    }
}
