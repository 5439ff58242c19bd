use skill_sdk::skill;

#[skill("git.merge", version = "1", side_effects = none, risk = hihg)]
fn merge() {}

fn main() {}
