use skill_sdk::state;

#[state("pool")]
fn pool() -> String {
    String::new()
}

fn main() {}
