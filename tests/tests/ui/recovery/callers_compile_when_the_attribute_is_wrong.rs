use skill_sdk::skill;

#[skill("git.merge", version = "1", side_effects = "none", risc = "low")]
fn merge(
    /// The branch.
    #[serde(default)]
    branch: String,
) -> usize {
    branch.len()
}

fn main() {
    let length: usize = merge("topic".to_owned());
    println!("{length}");
}
