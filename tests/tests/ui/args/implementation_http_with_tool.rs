use skill_sdk::skill;

#[skill(
    "git.merge",
    version = "1",
    side_effects = "none",
    risk = "low",
    implementation = http("https://skills.example.com", tool = "merge")
)]
fn merge() {}

fn main() {}
