use skill_sdk::skill;

#[skill(
    "abcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghijk",
    version = "1",
    side_effects = "none",
    risk = "low"
)]
fn merge() {}

fn main() {}
