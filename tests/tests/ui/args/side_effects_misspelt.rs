use skill_sdk::skill;

#[skill("git.merge", version = "1", side_effects = "extenal_write", risk = "low")]
fn merge() {}

fn main() {}
