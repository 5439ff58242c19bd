use skill_sdk::skill;

#[skill(version = "1", "git.merge", side_effects = "none", risk = "low")]
fn merge() {}

fn main() {}
