use skill_sdk::skill;

#[skill("git.merge", version = "1", side_effects = "none", risk = "low")]
fn merge(since: std::time::Instant) {
    let _ = since;
}

fn main() {}
