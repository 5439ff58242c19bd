use skill_sdk::state;

#[state]
fn pool(size: u8) -> Vec<u8> {
    vec![size]
}

fn main() {}
