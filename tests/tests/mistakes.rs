//! Programs of `tests/ui` with mistakes, which must not compile. rustc's text must be the expected one.
//! `TRYBUILD=overwrite` writes the texts anew.

use streamflow_tests::Suite;

/// The directories of `tests/ui`, each with one family of mistakes.
const FAMILIES: &[&str] = &[
    "arrays",
    "borders",
    "conditions",
    "edges",
    "generics",
    "graph_ports",
    "kernels",
    "laws",
    "libraries",
    "messages",
    "nodes",
    "operators",
    "pools",
    "ports",
    "receive_with_stream",
    "several",
    "threads",
    "tutorial",
];

pub(crate) fn suite() -> Suite {
    Suite::new().plain("are_reported_at_the_users_tokens", || {
        compile();
        Ok(())
    })
}

/// Compiles all programs, and panics if an error has another text than expected.
fn compile() {
    let cases = trybuild::TestCases::new();
    for family in FAMILIES {
        cases.compile_fail(format!("tests/ui/{family}/*.rs"));
    }
}
