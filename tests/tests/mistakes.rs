//! Mistakes that do not compile, with rustc's text: the programs of `tests/ui`. `TRYBUILD=overwrite` writes the texts anew.

use streamflow_tests::Suite;

/// The directories of `tests/ui`, each with a family of mistakes.
const FAMILIES: &[&str] = &[
    "conditions",
    "edges",
    "kernels",
    "laws",
    "libraries",
    "messages",
    "nodes",
    "operators",
    "pools",
    "ports",
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

/// Panics if an error has another text.
fn compile() {
    let cases = trybuild::TestCases::new();
    for family in FAMILIES {
        cases.compile_fail(format!("tests/ui/{family}/*.rs"));
    }
}
