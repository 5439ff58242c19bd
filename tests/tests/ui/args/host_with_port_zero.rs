use skill_sdk::skill;

#[skill("git.merge", version = "1", side_effects = "none", risk = "low", allowed_hosts = ["api.example.com:0"])]
fn merge() {}

fn main() {}
