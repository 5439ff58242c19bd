use skill_sdk::skill;

struct Context;

#[skill("git.merge", version = "1", side_effects = "none", risk = "low")]
fn merge(ctx: &Context) {
    let _ = ctx;
}

fn main() {}
