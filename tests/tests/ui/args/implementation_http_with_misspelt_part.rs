use skill_sdk::skill;

#[skill(
    "git.merge",
    version = "1",
    side_effects = "none",
    risk = "low",
    implementation = http("https://skills.example.com", audiense = "skills")
)]
fn merge() {}

fn main() {}
