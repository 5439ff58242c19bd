use skill_sdk::skill;

#[doc = include_str!("nowhere.md")]
#[skill("git.merge", version = "1", side_effects = "none", risk = "low")]
fn merge() {}

fn main() {}
