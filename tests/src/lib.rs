//! What the tests share: the recorded cases, and the skills that they call.

pub mod cases;
pub mod sample;
