//! The items on the documentation's front page and in the prelude, as the library's source lists them.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

const ROOT: &str = include_str!("../../streamflow/src/lib.rs");

/// All names that a program gets by `use streamflow::prelude::*`. `SpawnBorrowed` is in the prelude for its error
/// message.
const PRELUDE: [&str; 32] = [
    "Buffer",
    "Compute",
    "CudaStream",
    "CudaStreamPool",
    "Download",
    "Element",
    "Error",
    "ExecutionContext",
    "Failure",
    "Flush",
    "Flushed",
    "Grid",
    "HostData",
    "KernelArg",
    "Message",
    "New",
    "Platform",
    "Result",
    "Schedule",
    "Shared",
    "Spawn",
    "SpawnBorrowed as _",
    "Stream",
    "Table",
    "Tensor",
    "device",
    "expr",
    "graph",
    "kernel",
    "kernel_fn",
    "operator",
    "operator_interface",
];

/// Returns the re-exports of a text: for each the line before it, and its names.
fn re_exports(text: &str) -> Vec<(&str, Vec<&str>)> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices("pub use ") {
        let (path, _) = text[at..].split_once(';').unwrap();
        let before = text[..at].trim_end().lines().next_back().unwrap_or_default().trim();
        let names = match path.split_once('{') {
            Some((_, names)) => names.trim_end_matches('}'),
            None => path.rsplit("::").next().unwrap(),
        };
        found.push((before, names.split(',').map(str::trim).filter(|n| !n.is_empty()).collect()));
    }
    found
}

/// Returns the text of the crate root without the module `prelude`, and the text of that module.
fn parts(root: &str) -> (String, &str) {
    let (before, rest) = root.split_once("pub mod prelude {").unwrap();
    let (prelude, after) = rest.split_once("\n}\n").unwrap();
    (format!("{before}{after}"), prelude)
}

/// Returns the names that the front page would show as a bare line without a description.
fn bare(root: &str) -> Vec<String> {
    let (front, _) = parts(root);
    let bare = re_exports(&front)
        .into_iter()
        // A re-exported crate is not inlined, since its name says what it is.
        .filter(|(before, _)| {
            !["#[doc(inline)]", "#[doc(hidden)]", "#[doc(no_inline)]"].contains(before)
        });
    bare.flat_map(|(_, names)| names).map(str::to_owned).collect()
}

#[test]
fn the_prelude_has_what_a_first_program_needs() {
    let (_, prelude) = parts(ROOT);
    let mut names: Vec<_> = re_exports(prelude).into_iter().flat_map(|(_, names)| names).collect();
    names.sort_unstable();
    assert_eq!(names, PRELUDE);
}

#[test]
fn the_front_page_says_what_each_name_is() {
    assert_eq!(bare(ROOT), Vec::<String>::new());
}

/// The control: a re-export without its attribute is found.
#[test]
fn a_bare_line_is_found() {
    let root = ROOT.replacen(
        "#[doc(inline)]\npub use kernel::grid::Grid;",
        "pub use kernel::grid::Grid;",
        1,
    );
    assert_eq!(bare(&root), ["Grid"]);
}

/// Checks that the graph on the page of `graph!` is the one of the examples.
#[test]
fn the_page_of_the_graph_macro_shows_a_graph_of_the_examples() {
    let page = include_str!("../../streamflow-macros/src/lib.rs");
    let example = include_str!("../../examples/src/seed_graph.rs");
    let lines = page.lines().filter_map(|line| line.strip_prefix("///")).map(str::trim);
    let graph = lines.skip_while(|line| *line != "graph! {").take_while(|line| *line != "```");
    let statement = |line: &&str| line.starts_with("let ") || line.contains(" >> ");
    let statements: Vec<_> = graph.filter(statement).collect();
    assert_eq!(statements.len(), 7);
    statements.iter().for_each(|statement| assert!(example.contains(statement), "{statement}"));
}
