use skill_sdk::skill;

#[skill("git.merge", version = "1", side_effects = "none", risk = "low")]
fn merge(#[serde(default = 5)] depth: u8) {
    let _ = depth;
}

fn main() {}
