use skill_sdk::resource;

struct Lost;

#[resource]
fn pool() -> Result<String, Lost> {
    Err(Lost)
}

fn main() {}
