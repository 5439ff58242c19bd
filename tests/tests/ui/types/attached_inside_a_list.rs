use skill_sdk::{Attached, skill};

#[skill("git.merge", version = "1", side_effects = "none", risk = "low")]
fn merge() -> Vec<Attached<u8>> {
    vec![Attached::new(1)]
}

fn main() {}
