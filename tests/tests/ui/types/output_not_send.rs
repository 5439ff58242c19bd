use skill_sdk::skill;

use std::marker::PhantomData;

#[derive(serde::Serialize, schemars::JsonSchema)]
struct Merged {
    #[serde(skip)]
    local: PhantomData<*const ()>,
}

#[skill("git.merge", version = "1", side_effects = "none", risk = "low")]
async fn merge() -> Merged {
    Merged { local: PhantomData }
}

fn main() {}
