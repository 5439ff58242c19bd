use skill_sdk::skill;

#[skill("git.merge", version = "1", side_effects = "none", risk = "low")]
fn merge() -> impl Future<Output = bool> {
    async { true }
}

fn main() {}
