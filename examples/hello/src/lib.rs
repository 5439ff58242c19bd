//! The smallest crate with a skill.

use skill_sdk::skill;

/// Greets somebody by name.
#[skill("hello.greet", version = "1", side_effects = "none", risk = "low")]
fn greet(
    /// Who is greeted.
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
    fn it_can_be_published() {
        assert_valid_contract(greet::SKILL);
    }

    #[test]
    fn the_package_is_up_to_date() {
        assert_package_matches("package");
    }

    #[test]
    fn it_greets() {
        let result = invoke(greet::SKILL, json!({"name": "Ada"})).blocking().unwrap();
        assert_eq!(result.outputs, json!({"result": "Hello, Ada!"}));
    }

    #[test]
    fn it_asks_for_a_name() {
        let error = invoke(greet::SKILL, json!({"nmae": "Ada"}))
            .blocking()
            .unwrap_err();
        assert_eq!(error.code(), "input_contract_violation");
    }
}
