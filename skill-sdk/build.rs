//! Exists because of the `links` key: cargo asks for a build script beside it.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
}
