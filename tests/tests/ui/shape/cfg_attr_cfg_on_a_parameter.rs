use skill_sdk::skill;

#[skill("git.merge", version = "1", side_effects = "none", risk = "low")]
fn merge(#[cfg_attr(unix, cfg(unix))] branch: String) {
    drop(branch);
}

fn main() {}
