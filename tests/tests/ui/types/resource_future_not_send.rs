use skill_sdk::resource;

use std::rc::Rc;

#[resource]
async fn pool() -> usize {
    let held = Rc::new(());
    std::future::ready(()).await;
    Rc::strong_count(&held)
}

fn main() {}
