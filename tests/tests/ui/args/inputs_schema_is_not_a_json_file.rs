use skill_sdk::skill;

#[skill(
    "git.merge",
    version = "1",
    side_effects = "none",
    risk = "low",
    inputs_schema = "schemas/inputs.yaml"
)]
fn merge() {}

fn main() {}
