use skill_sdk::{SkillError, skill};

struct Merged;

type Result<T> = std::result::Result<T, SkillError>;

#[skill("git.merge", version = "1", side_effects = "none", risk = "low")]
fn merge() -> Result<Merged> {
    Ok(Merged)
}

fn main() {}
