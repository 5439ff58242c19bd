use skill_sdk::skill;

struct Schema;

#[skill("git.merge", version = "1", side_effects = "none", risk = "low", inputs_schema = Schema)]
fn merge(inputs: serde_json::Value) {
    drop(inputs);
}

fn main() {}
