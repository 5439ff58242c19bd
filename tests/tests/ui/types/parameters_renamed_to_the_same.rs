use skill_sdk::skill;

#[skill("git.merge", version = "1", side_effects = "none", risk = "low")]
fn merge(#[serde(rename = "to")] from: String, to: String) {
    drop((from, to));
}

fn main() {}
