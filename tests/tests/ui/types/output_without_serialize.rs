use skill_sdk::skill;

#[derive(schemars::JsonSchema)]
struct Merged {}

#[skill("git.merge", version = "1", side_effects = "none", risk = "low")]
fn merge() -> Merged {
    Merged {}
}

fn main() {}
