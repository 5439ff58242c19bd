use skill_sdk::state;

use std::rc::Rc;

#[state]
async fn pool() -> usize {
    let held = Rc::new(());
    std::future::ready(()).await;
    Rc::strong_count(&held)
}

fn main() {}
