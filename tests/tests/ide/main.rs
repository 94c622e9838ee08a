//! Editor support inside `graph!`, `#[operator]` and `compute`: completion of nodes, ports, types and words, hover,
//! definitions and renames, also in incomplete statements.
//!
//! The test queries rust-analyzer over LSP. The test is reported as skipped if there is no rust-analyzer, neither at
//! `STREAMFLOW_RUST_ANALYZER` nor in the path. `STREAMFLOW_REQUIRE_RUST_ANALYZER=1` makes that a failure.
#![allow(missing_docs, clippy::print_stdout, reason = "a test binary")]

mod cases;
mod program;
mod project;
mod server;

use std::process::ExitCode;

use cases::{Answer, CASES, Case};
use program::PROGRAM;
use server::Server;
use streamflow_tests::{Binary, Failed, Suite, check, check_equal};

fn main() -> ExitCode {
    Binary::new().suite("ide", suite).run()
}

fn suite() -> Suite {
    Suite::new().optional(
        "an_editor_answers_what_the_users_tokens_mean",
        "STREAMFLOW_REQUIRE_RUST_ANALYZER",
        all,
    )
}

fn all() -> Result<Option<String>, Failed> {
    let program = match server::find() {
        Ok(program) => program,
        Err(missing) => return Ok(Some(missing)),
    };
    let mut server = Server::start(&program, PROGRAM)?;
    no_diagnostics_in_the_graph(&mut server)?;
    let mut wrong = Vec::new();
    for case in CASES {
        match run_case(&mut server, case)? {
            Ok(line) => println!("ok    {line}"),
            Err(line) => wrong.push(line),
        }
    }
    check(wrong.is_empty(), || {
        format!("{} of {} cases are wrong:\n{}", wrong.len(), CASES.len(), wrong.join("\n"))
    })?;
    Ok(None)
}

/// Checks that the editor finds no mistake in a graph that rustc compiles. It does find some elsewhere, since the
/// project lacks the source of the standard library.
fn no_diagnostics_in_the_graph(server: &mut Server) -> Result<(), Failed> {
    let lines = PROGRAM.lines();
    let begin = lines.clone().position(|line| line == "graph! {").unwrap_or_default();
    let end = begin + lines.skip(begin).position(|line| line == "}").unwrap_or_default();
    let mut found = server.diagnostics()?;
    found.retain(|(line, _)| (begin..=end).contains(line));
    check_equal(found, Vec::new())
}

/// Runs one case. Returns a line with the typed text and the answer, which is an error if the answer is wrong.
fn run_case(server: &mut Server, case: &Case) -> Result<Result<String, String>, Failed> {
    let Case { replaced, typed, answer } = case;
    let no_place = || Failed::msg(format!("no place for {typed}"));
    let (before, after) = typed.split_once('|').ok_or_else(no_place)?;
    let (head, tail) = PROGRAM.split_once(replaced).ok_or_else(no_place)?;
    let text = format!("{head}{before}{after}{tail}");
    let line = head.matches('\n').count();
    let column = head.len() - head.rfind('\n').map_or(0, |at| at + 1) + before.len();
    server.change(&text)?;
    let (verb, found, is_right) = match answer {
        Answer::Offers(wanted) => {
            let mut found = server.completions(line, column)?;
            found.sort();
            let is_right = found == *wanted;
            ("offers", found, is_right)
        }
        Answer::OffersToo(wanted) => {
            let mut found = server.completions(line, column)?;
            let is_right = wanted.iter().all(|name| found.iter().any(|other| other == name));
            found.truncate(6);
            ("offers", found, is_right)
        }
        Answer::Shows(wanted) => {
            let found = server.hover(line, column)?;
            let is_right = found == *wanted;
            ("shows", found, is_right)
        }
        Answer::Leads(wanted) => {
            let found = server.definitions(line, column)?;
            let is_right = matches!(&found[..], [only] if only.starts_with(wanted));
            ("leads to", found, is_right)
        }
        Answer::Renames(wanted) => {
            let found = server.rename(line, column, "fresh")?;
            let is_right = found == *wanted;
            ("renames", found, is_right)
        }
    };
    let line = format!("{typed:<40} {verb} {found:?}");
    Ok(if is_right { Ok(line) } else { Err(line) })
}
