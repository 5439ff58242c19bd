use skill_sdk::state;

#[state]
fn pool() {}

fn main() {}
