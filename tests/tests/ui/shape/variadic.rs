use skill_sdk::skill;

#[skill("git.merge", version = "1", side_effects = "none", risk = "low")]
unsafe extern "C" fn merge(first: u8, ...) {
    let _ = first;
}

fn main() {}
