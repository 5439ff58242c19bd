use skill_sdk::skill;

#[skill("git.merge", version = "1", side_effects = "none", risk = )]
fn merge() {}

fn main() {
    merge();
}
