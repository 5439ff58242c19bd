use skill_sdk::skill;

#[derive(schemars::JsonSchema)]
struct Branch(String);

#[skill("git.merge", version = "1", side_effects = "none", risk = "low")]
async fn merge(branch: Branch) {
    drop(branch.0);
}

fn main() {}
