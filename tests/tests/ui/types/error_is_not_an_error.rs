use skill_sdk::skill;

struct Lost;

#[skill("git.merge", version = "1", side_effects = "none", risk = "low")]
async fn merge() -> Result<(), Lost> {
    Err(Lost)
}

fn main() {}
