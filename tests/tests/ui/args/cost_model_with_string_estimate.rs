use skill_sdk::skill;

#[skill(
    "git.merge",
    version = "1",
    side_effects = "none",
    risk = "low",
    cost_model = (unit = "page", estimate = "0.5")
)]
fn merge() {}

fn main() {}
