use skill_sdk::skill;

#[skill("git.merge", version = "1", side_effects = "none", risk = "low")]
async fn merge() -> Result<u8, Box<dyn std::error::Error>> {
    Ok(1)
}

fn main() {}
