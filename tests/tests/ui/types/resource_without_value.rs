use skill_sdk::resource;

#[resource]
fn pool() {}

fn main() {}
