use skill_sdk::state;

struct Store;

#[state(crate)]
fn store() -> Store {
    Store
}

fn main() {}
