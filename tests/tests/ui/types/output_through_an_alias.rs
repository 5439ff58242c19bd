use skill_sdk::{SkillError, skill};

struct Merged;

type Outcome = Result<Merged, SkillError>;

#[skill("git.merge", version = "1", side_effects = "none", risk = "low")]
fn merge() -> Outcome {
    Ok(Merged)
}

fn main() {}
