//! Two pages of the guide, one about the simulator and CUDA, and one about libraries. Each line of their tables
//! must name a test that exists, or give a reason.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs, reason = "a test")]

use std::fs;
use std::path::{Path, PathBuf};

const PAGE: &str = "streamflow/src/guide/simulator_and_cuda.md";
const LIBRARIES: &str = "streamflow/src/guide/libraries.md";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Appends the text of all Rust files in a folder.
fn sources(folder: &Path, text: &mut String) {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = entry.path();
        if path.is_dir() {
            sources(&path, text);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            text.push_str(&fs::read_to_string(path).unwrap());
        }
    }
}

/// Returns the last cells of the rows of all tables with `Shown by` as the last column.
fn last_cells(page: &str) -> Vec<&str> {
    let (mut cells, mut is_shown) = (Vec::new(), false);
    for line in page.lines() {
        match line.strip_prefix("| ").and_then(|line| line.strip_suffix(" |")) {
            Some(row) if row.ends_with(" | Shown by") => is_shown = true,
            Some(row) if is_shown => cells.push(row.rsplit(" | ").next().unwrap()),
            Some(_) => {}
            None => is_shown &= line.starts_with('|'),
        }
    }
    cells
}

/// Returns whether a test has this name: a function under `#[test]`, or a test of a suite.
fn is_test(name: &str, sources: &str) -> bool {
    let function = format!("#[test]\nfn {name}(");
    sources.contains(&function) || sources.contains(&format!("(\"{name}\", "))
}

/// Returns the mistake in a cell, if there is one.
fn problem(cell: &str, sources: &str) -> Option<String> {
    if let Some(reason) = cell.strip_prefix("Reason: ") {
        return (reason.len() < 20).then(|| format!("no reason: {cell}"));
    }
    let name = cell.strip_prefix('`').and_then(|name| name.strip_suffix('`'));
    match name {
        Some(name) if is_test(name, sources) => None,
        Some(name) => Some(format!("there is no test `{name}`")),
        None => Some(format!("neither a test nor a reason: {cell}")),
    }
}

#[test]
fn each_line_has_a_test_or_a_reason() {
    let page = fs::read_to_string(root().join(PAGE)).unwrap();
    let mut text = String::new();
    for folder in ["streamflow/src", "crates/streamflow-driver/src", "tests/tests"] {
        sources(&root().join(folder), &mut text);
    }
    let cells = last_cells(&page);
    assert!(cells.len() >= 30, "{}", cells.len());
    let problems: Vec<_> = cells.iter().filter_map(|cell| problem(cell, &text)).collect();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// Checks the page about libraries. A program that does not compile is named by its path, and a line may name
/// several tests.
#[test]
fn each_line_about_libraries_has_a_test() {
    let page = fs::read_to_string(root().join(LIBRARIES)).unwrap();
    let mut text = String::new();
    sources(&root().join("tests/tests"), &mut text);
    let cells = last_cells(&page);
    assert!(cells.len() >= 10, "{}", cells.len());
    for name in cells.iter().flat_map(|cell| cell.split(", ")) {
        let path = name.trim_matches('`');
        if path.starts_with("ui/") {
            let expected = root().join(format!("tests/tests/{path}.stderr"));
            assert!(expected.exists(), "there is no {}", expected.display());
        } else {
            assert_eq!(problem(name, &text), None);
        }
    }
}

/// The control: a name that no test has, an empty cell and an empty reason are all found.
#[test]
fn a_line_without_a_test_is_found() {
    let source = "#[test]\nfn it_works() {}\nfn helper() {}";
    assert_eq!(problem("`it_works`", source), None);
    for cell in ["`helper`", "`it_worked`", "", "Reason: none"] {
        assert!(problem(cell, source).is_some(), "{cell}");
    }
    let other = "| Before | Now |\n|---|---|\n| d | e |\n";
    assert_eq!(
        last_cells(&format!("| a | Shown by |\n|---|---|\n| b | `c` |\n\n{other}")),
        ["`c`"]
    );
}
