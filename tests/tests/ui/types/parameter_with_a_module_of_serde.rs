use skill_sdk::skill;

mod seconds {
    pub fn deserialize<'de, D: serde::Deserializer<'de>>(from: D) -> Result<std::time::Duration, D::Error> {
        serde::Deserialize::deserialize(from).map(std::time::Duration::from_secs)
    }
}

#[skill("git.merge", version = "1", side_effects = "none", risk = "low")]
fn merge(#[serde(with = "seconds")] limit: std::time::Duration) {
    let _ = limit;
}

fn main() {}
