use skill_sdk::skill;

#[skill("git.merge", version = "1", side_effects = "none", risk = "low")]
fn merge() -> Result<u8, String> {
    Err("there is no such branch".into())
}

fn main() {}
