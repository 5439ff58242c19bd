use skill_sdk::skill;

#[skill(
    "git.merge",
    version = "1",
    side_effects = "none",
    risk = "low",
    config = ["HELPDESK_URL=https://help.example.com"]
)]
fn merge() {}

fn main() {}
