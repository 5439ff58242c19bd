use skill_sdk::state;

struct Lost;

#[state]
fn pool() -> Result<String, Lost> {
    Err(Lost)
}

fn main() {}
