use skill_sdk::{SkillError, skill};

struct Merged;

#[skill("git.merge", version = "1", side_effects = "none", risk = "low")]
async fn merge() -> Result<Merged, SkillError> {
    Ok(Merged)
}

fn main() {}
