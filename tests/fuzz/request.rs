//! `cargo fuzz run request seeds`, in this folder.

#![no_main]

mod harness;

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;

static TARGET: LazyLock<harness::Target> = LazyLock::new(harness::Target::start);

fuzz_target!(|data: &[u8]| TARGET.send(data));
