use skill_sdk::skill;

#[skill("git.merge", version = v2, side_effects = "none", risk = "low")]
fn merge() {}

fn main() {}
