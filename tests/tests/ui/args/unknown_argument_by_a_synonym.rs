use skill_sdk::skill;

#[skill("git.merge", version = "1", side_effects = "none", risk = "low", retries = 3)]
fn merge() {}

fn main() {}
