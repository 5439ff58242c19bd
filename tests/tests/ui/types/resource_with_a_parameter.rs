use skill_sdk::resource;

#[resource]
fn pool(size: u8) -> Vec<u8> {
    vec![size]
}

fn main() {}
