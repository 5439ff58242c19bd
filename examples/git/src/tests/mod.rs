//! Tests with real repositories, created for each test in a temporary directory.

mod concurrent;
mod fixture;
mod limits;
mod names;
mod outcomes;
