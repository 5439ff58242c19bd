use skill_sdk::skill;

#[skill("git.merge", version = "1", side_effects = "none", risk = "low")]
fn merge<T>(branch: T) {
    drop(branch);
}

fn main() {}
