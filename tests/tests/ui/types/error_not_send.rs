use skill_sdk::skill;

use std::rc::Rc;

#[derive(Debug)]
struct Lost(Rc<str>);

impl std::fmt::Display for Lost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Lost {}

#[skill("git.merge", version = "1", side_effects = "none", risk = "low")]
fn merge() -> Result<(), Lost> {
    Err(Lost("topic".into()))
}

fn main() {}
