use skill_sdk::skill;

#[derive(serde::Deserialize)]
struct Merge {
    branch: String,
}

#[skill("git.merge", version = "1", side_effects = "none", risk = "low")]
fn merge(inputs: Merge) {
    drop(inputs.branch);
}

fn main() {}
