use skill_sdk::skill;

#[skill(
    "git.merge",
    version = "1",
    side_effects = "none",
    risk = "low",
    implementation = http("https://a.example.com", audience = "a", audience = "b")
)]
fn merge() {}

fn main() {}
