use skill_sdk::skill;

#[skill("git.merge", version = "1", side_effects = "none", risk = "low", postconditions = "branch is merged")]
fn merge() {}

fn main() {}
