use skill_sdk::skill;

struct Merged;

struct Lost;

#[skill("git.merge", version = "1", side_effects = "none", risk = "low")]
fn merge() -> Result<Merged, Lost> {
    Err(Lost)
}

fn main() {}
