use skill_sdk::skill;

use std::rc::Rc;

#[skill("git.merge", version = "1", side_effects = "none", risk = "low")]
async fn merge() -> usize {
    let held = Rc::new(());
    std::future::ready(()).await;
    Rc::strong_count(&held)
}

fn main() {}
