//! Build script: writes copies of two source files that have no loom form, with loom's atomics in place of the standard
//! library's.
#![allow(clippy::unwrap_used, reason = "a build script fails by panicking")]

use std::env;
use std::path::PathBuf;

mod replaced;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=replaced.rs");
    println!("cargo::rerun-if-changed=../../crates/streamflow-driver/src/driver/mod.rs");
    if env::var_os("CARGO_CFG_LOOM").is_none() {
        return;
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap());
    replaced::write_seam(&out);
    replaced::write_spin(&out);
}
