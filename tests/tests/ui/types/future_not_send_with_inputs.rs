use skill_sdk::{SkillContext, skill};

use std::rc::Rc;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Merge {
    branch: String,
}

#[skill("git.merge", version = "1", side_effects = "none", risk = "low")]
async fn merge(inputs: Merge, ctx: &SkillContext) -> usize {
    let held = Rc::new(inputs.branch);
    ctx.cancelled().await;
    held.len()
}

fn main() {}
