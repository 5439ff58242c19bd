use skill_sdk::skill;

#[skill("git.merge", version = "1", side_effects = "none", risk = "low", preconditions = "branch exists")]
fn merge() {}

fn main() {}
