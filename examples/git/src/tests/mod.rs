//! Merges in real repositories, made for each test in a directory of its own.

mod concurrent;
mod fixture;
mod limits;
mod names;
mod outcomes;
