//! Mistakes that do not compile, and what the user reads then; programs that look like them and are right.

/// The directories of `tests/ui`, each a family of mistakes.
const FAMILIES: &[&str] = &[
    "conditions",
    "edges",
    "kernels",
    "laws",
    "messages",
    "nodes",
    "operators",
    "pools",
    "ports",
    "several",
    "threads",
];

#[test]
fn mistakes_are_told_at_the_users_tokens() {
    let cases = trybuild::TestCases::new();
    for family in FAMILIES {
        cases.compile_fail(format!("tests/ui/{family}/*.rs"));
    }
}

#[test]
fn what_is_right_compiles() {
    trybuild::TestCases::new().pass("tests/ui/pass/*.rs");
}
