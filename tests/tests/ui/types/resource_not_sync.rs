use skill_sdk::resource;

use std::cell::Cell;

#[resource]
async fn pool() -> Result<Cell<u8>, std::io::Error> {
    Ok(Cell::new(5))
}

fn main() {}
