//! The crates of the library are of one version, or Cargo says so before it builds anything.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;
use std::process::Command;

/// The version of these crates.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Cargo's error for a program that has a streamflow of this version beside the workspace's other crates.
fn resolved(version: &str) -> String {
    let ours = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let directory = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        let path = directory.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    let root = fs::read_to_string(ours.join("Cargo.toml")).unwrap();
    let (before, rest) = root.split_once("members = [").unwrap();
    let (_, after) = rest.split_once(']').unwrap();
    let members = "\"streamflow\", \"crates/streamflow-math\"";
    write("Cargo.toml", &format!("{before}members = [{members}]{after}"));
    let math = fs::read_to_string(ours.join("crates/streamflow-math/Cargo.toml")).unwrap();
    // What only its tests use is no part of a program.
    let (math, _) = math.split_once("[dev-dependencies]").unwrap();
    write("crates/streamflow-math/Cargo.toml", math);
    write("crates/streamflow-math/src/lib.rs", "");
    let features = "cuda-12080 = []\ncuda-12090 = []\ncuda-13000 = []\nhalf = []";
    let library = format!(
        "[package]\nname = \"streamflow\"\nversion = \"{version}\"\nedition = \"2024\"\n\n[features]\n{features}\n"
    );
    write("streamflow/Cargo.toml", &library);
    write("streamflow/src/lib.rs", "");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let arguments = ["metadata", "--offline", "--format-version", "1"];
    let output =
        Command::new(cargo).args(arguments).current_dir(directory.path()).output().unwrap();
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn mathematics_of_another_version_than_the_library_is_refused() {
    let wanted = format!("the requirement `streamflow = \"={VERSION}\"`");
    for other in ["0.1.99", "0.2.0"] {
        let error = resolved(other);
        let found = format!("candidate versions found which didn't match: {other}");
        for text in [&wanted, &found, "required by package `streamflow-math v"] {
            assert!(error.contains(text), "{text} is not in:\n{error}");
        }
    }
    let error = resolved(VERSION);
    assert!(!error.contains(&wanted), "{error}");
}
