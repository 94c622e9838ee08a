//! Mistakes that do not compile, and what the user reads then.

#[test]
fn mistakes_are_told_at_the_users_tokens() {
    let cases = trybuild::TestCases::new();
    for of in ["kernels", "edges", "nodes", "pools", "conditions"] {
        cases.compile_fail(format!("tests/ui/{of}/*.rs"));
    }
}
