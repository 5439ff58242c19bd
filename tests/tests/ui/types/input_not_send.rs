use skill_sdk::skill;

use std::rc::Rc;

#[derive(schemars::JsonSchema)]
struct Merge {
    branch: Rc<str>,
}

impl<'de> serde::Deserialize<'de> for Merge {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Ok(Self { branch: String::deserialize(from)?.into() })
    }
}

#[skill("git.merge", version = "1", side_effects = "none", risk = "low")]
fn merge(inputs: Merge) {
    drop(inputs.branch);
}

fn main() {}
