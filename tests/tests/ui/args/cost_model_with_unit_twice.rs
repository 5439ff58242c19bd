use skill_sdk::skill;

#[skill(
    "git.merge",
    version = "1",
    side_effects = "none",
    risk = "low",
    cost_model = (unit = "page", unit = "line")
)]
fn merge() {}

fn main() {}
