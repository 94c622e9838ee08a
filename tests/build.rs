//! Writes the random bodies of the test `one_body`.
//!
//! `STREAMFLOW_ONE_BODY_SEED` has the seed of the bodies, and `STREAMFLOW_ONE_BODY_COUNT` how many each type has.

use std::env;
use std::path::PathBuf;

#[path = "tests/one_body/generator.rs"]
mod generator;

fn main() {
    let number = |name: &str, default: u64| {
        println!("cargo::rerun-if-env-changed={name}");
        let Ok(text) = env::var(name) else { return default };
        text.parse().unwrap_or_else(|_| panic!("{name} is no number: {text}"))
    };
    let seed = number("STREAMFLOW_ONE_BODY_SEED", 1);
    let count = number("STREAMFLOW_ONE_BODY_COUNT", 12);
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=tests/one_body/generator.rs");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let text = generator::bodies(seed, count as usize);
    std::fs::write(out.join("random_bodies.rs"), text)
        .expect("the folder of the build can be written");
}
