use skill_sdk::skill;

#[skill(
    "git.merge",
    version = "1",
    side_effects = "none",
    risk = "low",
    allowed_hosts = ["https://api.example.com/v1"]
)]
fn merge() {}

fn main() {}
