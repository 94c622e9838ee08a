//! Writes the random bodies of the test `one_body`.
//!
//! `STREAMFLOW_ONE_BODY_SEED` has the seed of the bodies, and `STREAMFLOW_ONE_BODY_COUNT` how many each type has.

use std::env;
use std::error::Error;
use std::path::PathBuf;

#[path = "tests/one_body/generator.rs"]
mod generator;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=tests/one_body/generator.rs");
    let (seed, count) =
        (number("STREAMFLOW_ONE_BODY_SEED", 1)?, number("STREAMFLOW_ONE_BODY_COUNT", 12)?);
    let out = env::var_os("OUT_DIR").ok_or("cargo has not set OUT_DIR")?;
    let text = generator::bodies(seed, count as usize);
    Ok(std::fs::write(PathBuf::from(out).join("random_bodies.rs"), text)?)
}

/// The number of a variable, or this one without the variable.
fn number(name: &str, default: u64) -> Result<u64, String> {
    println!("cargo::rerun-if-env-changed={name}");
    let Ok(text) = env::var(name) else { return Ok(default) };
    text.parse().map_err(|_| format!("{name} is no number: {text}"))
}
