use skill_sdk::skill;

#[skill("git.merge", version = "1", side_effects = "none", risc = "low")]
fn merge(branch: String) -> usize {
    branch.lenght()
}

fn main() {}
