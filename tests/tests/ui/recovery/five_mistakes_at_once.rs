use skill_sdk::skill;

#[skill("git merge", verison = "1", side_effects = "nothing", risk = "hihg", timeout = 0)]
fn merge() {}

fn main() {}
