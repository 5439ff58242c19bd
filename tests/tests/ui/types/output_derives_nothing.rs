use skill_sdk::skill;

struct Merged;

#[skill("git.merge", version = "1", side_effects = "none", risk = "low")]
async fn merge() -> Merged {
    Merged
}

fn main() {}
