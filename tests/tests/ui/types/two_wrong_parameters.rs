use skill_sdk::skill;

struct Branch(String);

struct Target(String);

#[skill("git.merge", version = "1", side_effects = "none", risk = "low")]
async fn merge(branch: Branch, target: Target) {
    drop((branch.0, target.0));
}

fn main() {}
