use skill_sdk::skill;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Merge {
    branch: String,
}

#[skill("git.merge", version = "1", side_effects = "none", risk = "low", crate = ::my_sdk)]
fn merge(inputs: Merge) {
    drop(inputs.branch);
}

fn main() {}
