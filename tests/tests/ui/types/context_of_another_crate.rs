use skill_sdk::skill;

mod other {
    pub struct SkillContext;
}

#[skill("git.merge", version = "1", side_effects = "none", risk = "low")]
async fn merge(ctx: &other::SkillContext) {
    let _ = ctx;
}

fn main() {}
