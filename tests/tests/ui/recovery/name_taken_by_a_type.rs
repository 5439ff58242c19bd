use skill_sdk::skill;

#[skill("git.merge", version = "1", side_effects = "none", risk = "low")]
fn merge() {}

#[allow(non_camel_case_types)]
struct merge {}

fn main() {}
