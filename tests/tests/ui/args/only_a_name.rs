use skill_sdk::skill;

#[skill("git.merge")]
fn merge() {}

fn main() {}
