//! Mistakes that do not compile, with rustc's text, and similar programs that are right.

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

#[test]
fn mistakes_are_reported_at_the_users_tokens() {
    let cases = trybuild::TestCases::new();
    for family in FAMILIES {
        cases.compile_fail(format!("tests/ui/{family}/*.rs"));
    }
}

#[test]
fn right_programs_compile() {
    trybuild::TestCases::new().pass("tests/ui/pass/*.rs");
}
