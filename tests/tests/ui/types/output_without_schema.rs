use skill_sdk::{SkillError, skill};

#[derive(serde::Serialize)]
struct Merged {}

#[skill("git.merge", version = "1", side_effects = "none", risk = "low")]
fn merge() -> Result<Merged, SkillError> {
    Ok(Merged {})
}

fn main() {}
