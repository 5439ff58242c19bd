//! `cargo fuzz run request seeds`, in this folder.

#![no_main]

mod attack;

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;

static TARGET: LazyLock<attack::Target> = LazyLock::new(attack::Target::start);

fuzz_target!(|data: &[u8]| TARGET.attack(data));
