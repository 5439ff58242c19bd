use skill_sdk::skill;

#[skill("git.merge", version = "1", side_effects = "none", risk = "low", implementation = mcp("acme"))]
fn merge() {}

fn main() {}
