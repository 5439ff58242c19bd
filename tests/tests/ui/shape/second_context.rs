use skill_sdk::{SkillContext, skill};

#[skill("git.merge", version = "1", side_effects = "none", risk = "low")]
fn merge(first: &SkillContext, second: &SkillContext) {
    let _ = (first, second);
}

fn main() {}
