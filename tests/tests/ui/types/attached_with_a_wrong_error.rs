use skill_sdk::{Attached, skill};

#[skill("git.merge", version = "1", side_effects = "none", risk = "low")]
fn merge() -> Result<Attached<u8>, u8> {
    Ok(Attached::new(1))
}

fn main() {}
