use skill_sdk::resource;

struct Store<T>(T);

#[resource]
fn store<T: Default>() -> Store<T> {
    Store(T::default())
}

fn main() {}
