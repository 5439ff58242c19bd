use skill_sdk::resource;

struct Store;

#[resource(crate)]
fn store() -> Store {
    Store
}

fn main() {}
