use skill_sdk::skill;

fn about() -> String {
    "Merges.".to_owned()
}

#[skill("git.merge", version = "1", side_effects = "none", risk = "low", description = about())]
fn merge() {}

fn main() {}
