use skill_sdk::skill;

struct Clean;

#[skill("git.merge", version = "1", side_effects = "none", risk = "low", preconditions = [Clean])]
fn merge() {}

fn main() {}
