use skill_sdk::skill;

struct Merge {
    branch: String,
}

#[skill(
    "git.merge", version = "1", side_effects = "none", risk = "low",
    inputs_schema = serde_json::json!({"type": "object"})
)]
fn merge(inputs: Merge) {
    drop(inputs.branch);
}

fn main() {}
