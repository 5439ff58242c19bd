use skill_sdk::skill;

struct Git;

impl Git {
    #[skill("git.merge", version = "1", side_effects = "none", risk = "low")]
    fn new() -> Self {
        Git
    }
}

fn main() {}
