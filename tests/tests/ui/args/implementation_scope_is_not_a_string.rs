use skill_sdk::skill;

#[skill(
    "git.merge",
    version = "1",
    side_effects = "none",
    risk = "low",
    implementation = http("https://a.example.com", audience = "a", scopes = [1])
)]
fn merge() {}

fn main() {}
