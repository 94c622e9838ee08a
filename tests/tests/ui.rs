//! Mistakes that do not compile, and what the user reads then.

#[test]
fn mistakes_are_told_at_the_users_tokens() {
    let cases = trybuild::TestCases::new();
    let of_operators = ["kernels", "messages", "operators", "ports"];
    let of_graphs = ["edges", "nodes", "pools", "conditions"];
    for what in of_operators.iter().chain(&of_graphs) {
        cases.compile_fail(format!("tests/ui/{what}/*.rs"));
    }
}
