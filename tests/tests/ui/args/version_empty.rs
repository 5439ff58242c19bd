use skill_sdk::skill;

#[skill("git.merge", version = "", side_effects = "none", risk = "low")]
fn merge() {}

fn main() {}
