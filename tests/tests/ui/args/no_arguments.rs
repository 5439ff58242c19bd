use skill_sdk::skill;

#[skill()]
fn merge() {}

fn main() {}
