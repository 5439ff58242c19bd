use skill_sdk::{SkillContext, SkillError, skill};

use std::rc::Rc;

#[skill("git.merge", version = "1", side_effects = "none", risk = "low")]
async fn merge(ctx: &SkillContext) -> Result<bool, SkillError> {
    let _pool = ctx.resource::<Rc<str>>().await?;
    Ok(true)
}

fn main() {}
