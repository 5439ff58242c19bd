use schemars::JsonSchema;
use serde::Deserialize;
use skill_sdk::skill;

mod seconds {
    pub fn deserialize<'de, D: serde::Deserializer<'de>>(from: D) -> Result<std::time::Duration, D::Error> {
        serde::Deserialize::deserialize(from).map(std::time::Duration::from_secs)
    }
}

#[derive(Deserialize, JsonSchema)]
struct Merge {
    #[serde(with = "seconds")]
    limit: std::time::Duration,
}

#[skill("git.merge", version = "1", side_effects = "none", risk = "low")]
fn merge(inputs: Merge) {
    let _ = inputs.limit;
}

fn main() {}
