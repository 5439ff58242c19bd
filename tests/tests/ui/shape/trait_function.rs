use skill_sdk::skill;

trait Git {
    #[skill("git.merge", version = "1", side_effects = "none", risk = "low")]
    fn merge(&self);
}

fn main() {}
