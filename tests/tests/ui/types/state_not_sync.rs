use skill_sdk::state;

use std::cell::Cell;

#[state]
async fn pool() -> Result<Cell<u8>, std::io::Error> {
    Ok(Cell::new(5))
}

fn main() {}
