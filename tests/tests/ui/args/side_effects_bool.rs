use skill_sdk::skill;

#[skill("git.merge", version = "1", side_effects = false, risk = "low")]
fn merge() {}

fn main() {}
