use skill_sdk::state;

struct Store<T>(T);

#[state]
fn store<T: Default>() -> Store<T> {
    Store(T::default())
}

fn main() {}
