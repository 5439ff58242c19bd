use skill_sdk::resource;

#[resource("pool")]
fn pool() -> String {
    String::new()
}

fn main() {}
