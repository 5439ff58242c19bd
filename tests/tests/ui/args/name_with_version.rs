use skill_sdk::skill;

#[skill("git.merge@1", version = "1", side_effects = "none", risk = "low")]
fn merge() {}

fn main() {}
