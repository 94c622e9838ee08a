//! Mistakes that do not compile, and what the user reads then.

#[test]
fn mistakes_are_told_at_the_users_tokens() {
    let cases = trybuild::TestCases::new();
    for what in ["kernels", "messages", "operators", "ports"] {
        cases.compile_fail(format!("tests/ui/{what}/*.rs"));
    }
}
