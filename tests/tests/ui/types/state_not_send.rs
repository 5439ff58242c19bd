use skill_sdk::state;

use std::rc::Rc;

#[state]
fn pool() -> Rc<str> {
    "pool".into()
}

fn main() {}
