use skill_sdk::skill;

#[skill(
    "git.merge",
    version = "1",
    side_effects = "none",
    risk = "low",
    implementation = http("http${S}://a.example.com")
)]
fn merge() {}

fn main() {}
