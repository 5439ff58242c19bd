use skill_sdk::skill;

#[skill("git.merge", version = "1", side_effects = "none", risk = "low", cost_model = "page")]
fn merge() {}

fn main() {}
