use skill_sdk::skill;

const ABOUT: u8 = 5;

#[skill("git.merge", version = "1", side_effects = "none", risk = "low", description = ABOUT)]
fn merge() {}

fn main() {}
