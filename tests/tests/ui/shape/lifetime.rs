use skill_sdk::{SkillContext, skill};

#[skill("git.merge", version = "1", side_effects = "none", risk = "low")]
async fn merge<'a>(ctx: &'a SkillContext) {
    drop(ctx);
}

fn main() {}
