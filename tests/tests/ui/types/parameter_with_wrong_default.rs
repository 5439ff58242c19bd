use skill_sdk::skill;

fn deep() -> String {
    String::new()
}

#[skill("git.merge", version = "1", side_effects = "none", risk = "low")]
fn merge(#[serde(default = "deep")] depth: u8) {
    let _ = depth;
}

fn main() {}
