use skill_sdk::skill;

#[skill(
    "git.merge",
    version = "1",
    side_effects = "none",
    risk = "low",
    implementation = http("https://a.example.com", audience = "see npm_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa")
)]
fn merge() {}

fn main() {}
