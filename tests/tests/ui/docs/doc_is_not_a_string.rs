use skill_sdk::skill;

#[doc = 5]
#[skill("git.merge", version = "1", side_effects = "none", risk = "low")]
fn merge() {}

fn main() {}
