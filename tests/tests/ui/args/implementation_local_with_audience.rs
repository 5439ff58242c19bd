use skill_sdk::skill;

#[skill(
    "git.merge",
    version = "1",
    side_effects = "none",
    risk = "low",
    implementation = local("acme.reports:build", audience = "acme")
)]
fn merge() {}

fn main() {}
