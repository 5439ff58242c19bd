use skill_sdk::{SkillContext, skill};

#[skill("git.merge", version = 1, side_effects = "none", risk = "low")]
fn merge<T>(branch: &str, ctx: &mut SkillContext) -> T {
    let _ = (branch, ctx);
    unreachable!()
}

fn main() {}
