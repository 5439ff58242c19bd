use skill_sdk::skill;

#[skill("git.merge", version = "1", side_effects = "none", risk = "low", retry = (11, 30))]
fn merge() {}

fn main() {}
