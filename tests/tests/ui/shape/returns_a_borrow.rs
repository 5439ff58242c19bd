use skill_sdk::{SkillContext, skill};

#[skill("git.merge", version = "1", side_effects = "none", risk = "low")]
fn merge(ctx: &SkillContext) -> &str {
    ctx.skill()
}

fn main() {}
