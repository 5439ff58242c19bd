use skill_sdk::skill;

#[skill("git.merge", version = "1", side_effects = "none", risk = "low")]
async fn merge(branch: String) -> usize {
    branch
}

fn main() {}
