use skill_sdk::skill;

#[skill(
    "git.merge",
    version = "1",
    side_effects = "none",
    risk = "low",
    implementation = mcp("stdio${X}:a", tool = "t")
)]
fn merge() {}

fn main() {}
