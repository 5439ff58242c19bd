use skill_sdk::skill;

#[skill("git.merge", version = "123456789012345678901234567890123456789012345678901", side_effects = "none", risk = "low")]
fn merge() {}

fn main() {}
