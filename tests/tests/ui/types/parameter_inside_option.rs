use skill_sdk::skill;

struct Branch(String);

#[skill("git.merge", version = "1", side_effects = "none", risk = "low")]
async fn merge(branch: Option<Branch>) {
    drop(branch.map(|it| it.0));
}

fn main() {}
