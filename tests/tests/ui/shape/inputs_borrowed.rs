use skill_sdk::skill;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Merge {
    branch: String,
}

#[skill("git.merge", version = "1", side_effects = "none", risk = "low")]
fn merge(inputs: &Merge) {
    let _ = &inputs.branch;
}

fn main() {}
