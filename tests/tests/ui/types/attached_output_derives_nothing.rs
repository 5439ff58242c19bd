use skill_sdk::{Attached, SkillError, skill};

struct Merged;

#[skill("git.merge", version = "1", side_effects = "none", risk = "low")]
async fn merge() -> Result<Attached<Merged>, SkillError> {
    Ok(Attached::new(Merged))
}

fn main() {}
