use skill_sdk::skill;

#[skill(5, version = "1", side_effects = "none", risk = "low")]
fn merge() {}

fn main() {}
