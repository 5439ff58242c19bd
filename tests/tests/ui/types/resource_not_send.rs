use skill_sdk::resource;

use std::rc::Rc;

#[resource]
fn pool() -> Rc<str> {
    "pool".into()
}

fn main() {}
