use skill_sdk::skill;

#[skill(
    "git.merge",
    version = "1",
    side_effects = "none",
    risk = "low",
    implementation = http("${base-url}/merge")
)]
fn merge() {}

fn main() {}
