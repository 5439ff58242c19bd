use skill_sdk::skill;

#[skill("git.merge", version = "1", risk = "low")]
fn merge() {}

fn main() {}
