use skill_sdk::skill;

#[skill(
    "git.merge",
    version = "1",
    side_effects = "none",
    risk = "low",
    implementation = mcp("stdio:acme", tool = "-merge")
)]
fn merge() {}

fn main() {}
