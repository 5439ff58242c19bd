use skill_sdk::skill;

#[skill(
    "git.merge",
    version = "1",
    side_effects = "none",
    risk = "low",
    implementation = mcp("acme${S}://x", tool = "t")
)]
fn merge() {}

fn main() {}
