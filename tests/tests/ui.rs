//! `tests/right` compiles and runs programs that are right, beside those of `mistakes.rs`.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Cargo compiles and runs the programs that a package has as tests without a harness.
#[test]
fn each_right_program_is_run() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR"));
    let manifest = fs::read_to_string(directory.join("right/Cargo.toml")).unwrap();
    let sections = manifest.split("\n[[test]]\n").skip(1).map(str::trim);
    let programs = fs::read_dir(directory.join("tests/ui/pass")).unwrap();
    let names = programs.map(|file| file.unwrap().file_name().into_string().unwrap());
    let names = names.map(|file| file.strip_suffix(".rs").unwrap().to_owned());
    let wanted: BTreeSet<_> = names
        .map(|name| {
            let path = format!("../tests/ui/pass/{name}.rs");
            format!("name = \"right_{name}\"\npath = \"{path}\"\nharness = false")
        })
        .collect();
    assert!(!wanted.is_empty());
    assert_eq!(sections.map(str::to_owned).collect::<BTreeSet<_>>(), wanted);
}
