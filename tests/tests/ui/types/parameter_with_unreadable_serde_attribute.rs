use skill_sdk::skill;

#[skill("git.merge", version = "1", side_effects = "none", risk = "low")]
fn merge(#[serde(default rename = "b")] branch: String) {
    drop(branch);
}

fn main() {}
