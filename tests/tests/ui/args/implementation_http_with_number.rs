use skill_sdk::skill;

#[skill("git.merge", version = "1", side_effects = "none", risk = "low", implementation = http(8080))]
fn merge() {}

fn main() {}
