use schemars::JsonSchema;
use serde::Deserialize;
use skill_sdk::skill;

#[derive(Deserialize, JsonSchema)]
struct Page<T> {
    #[serde(default)]
    items: Vec<T>,
    first: T,
}

#[derive(Deserialize, JsonSchema)]
struct Item {
    size: u8,
}

#[skill("page.size", version = "1", side_effects = "none", risk = "low")]
fn size(inputs: Page<Item>) -> usize {
    inputs.items.len() + usize::from(inputs.first.size)
}

fn main() {}
