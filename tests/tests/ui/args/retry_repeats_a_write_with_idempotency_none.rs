use skill_sdk::skill;

#[skill(
    "git.merge",
    version = "1",
    side_effects = "external_write",
    risk = "low",
    idempotency = "none",
    retry = (3, 30)
)]
fn merge() {}

fn main() {}
