//! One mistake in a whole program is one error. The error names the mistake and proposes no name of the macros' code.
//!
//! `one_mistake/program.rs` is a program that is right, and `one_mistake/mistakes.rs` has edits of it. rustc checks each edited
//! program against the library that this test is built with.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs, reason = "a test fails by panicking")]

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use serde_json::Value;

#[path = "one_mistake/mistakes.rs"]
mod mistakes;

use mistakes::{MISTAKES, MISTAKES_OF_ARGUMENTS, Mistake};

const PROGRAM: &str = include_str!("one_mistake/program.rs");

/// A program whose checks depend on the arguments of a graph, so they are made when the program is built.
const GENERIC_PROGRAM: &str = include_str!("one_mistake/generic.rs");

/// How far rustc compiles a program.
#[derive(Clone, Copy)]
enum To {
    /// As `cargo check`.
    Metadata,
    /// As `cargo build`, without the linker.
    Object,
}

/// Compiles programs with rustc, up to their metadata.
struct Checker {
    directory: tempfile::TempDir,
    libraries: PathBuf,
    streamflow: PathBuf,
    mathematics: PathBuf,
    next: AtomicUsize,
}

impl Checker {
    fn new() -> Self {
        let libraries = env::current_exe().unwrap().parent().unwrap().to_owned();
        let newest = |start: &str| {
            let files = fs::read_dir(&libraries).unwrap().map(|file| file.unwrap());
            let built = files.filter(|file| {
                let name = file.file_name().into_string().unwrap();
                name.starts_with(start) && name.ends_with(".rlib")
            });
            // The folder may also have older builds of the library, with other features or from other sources.
            let newest = built.max_by_key(|file| file.metadata().unwrap().modified().unwrap());
            newest.unwrap().path()
        };
        let [streamflow, mathematics] = ["libstreamflow-", "libstreamflow_math-"].map(newest);
        let directory = tempfile::tempdir().unwrap();
        Self { directory, libraries, streamflow, mathematics, next: AtomicUsize::new(0) }
    }

    /// Returns the errors of a program, each as the words that rustc shows to its user, without the quoted lines of
    /// the program.
    fn errors(&self, program: &str, to: To) -> Vec<String> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let source = self.directory.path().join(format!("{number}.rs"));
        fs::write(&source, program).unwrap();
        let emitted = match to {
            To::Metadata => "--emit=metadata",
            To::Object => "--emit=obj",
        };
        let path = |before: &str, path: &Path| format!("{before}={}", path.display());
        let output = Command::new(env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()))
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .args(["--edition=2024", "--crate-name=program", "--crate-type=bin"])
            .args([emitted, "--error-format=json", "--cap-lints=allow"])
            .args(["-L", &path("dependency", &self.libraries)])
            .args(["--extern", &path("streamflow", &self.streamflow)])
            .args(["--extern", &path("streamflow_math", &self.mathematics)])
            .arg("-o")
            .arg(source.with_extension("rmeta"))
            .arg(&source)
            .output()
            .unwrap();
        let lines = String::from_utf8(output.stderr).unwrap();
        let diagnostics = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let errors: Vec<String> =
            diagnostics.filter(is_error).map(|error| words(&error).join("\n")).collect();
        assert_eq!(output.status.success(), errors.is_empty(), "{lines}");
        errors
    }
}

/// Returns whether a diagnostic is an error. rustc's last line, the number of errors, is not one.
fn is_error(diagnostic: &Value) -> bool {
    let is_number = diagnostic["message"].as_str().unwrap().starts_with("aborting due to");
    diagnostic["level"] == "error" && !is_number
}

/// Returns the texts of a diagnostic: the message, the labels, the notes and the proposals.
fn words(diagnostic: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut found = vec![text(&diagnostic["message"])];
    for span in diagnostic["spans"].as_array().unwrap() {
        found.extend([text(&span["label"]), text(&span["suggested_replacement"])]);
    }
    found.extend(diagnostic["children"].as_array().unwrap().iter().flat_map(words));
    found
}

/// Returns the names in `words` that begin with `__`. Excepted is `__private`, a module that rustc may name in a
/// path.
fn hidden_names(words: &str) -> Vec<&str> {
    let names = words.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
    names.filter(|name| name.starts_with("__") && *name != "__private").collect()
}

/// Returns what is wrong with rustc's errors for a mistake, or `None` if they are as expected.
fn problem(checker: &Checker, program: &str, to: To, mistake: &Mistake) -> Option<String> {
    let Mistake { name, says, errors: wanted, .. } = mistake;
    let Some(program) = mistake.made_in(program) else {
        return Some(format!("{name}: the program does not have what is replaced"));
    };
    let errors = checker.errors(&program, to);
    let all = errors.join("\n\n");
    let hidden = hidden_names(&all);
    if errors.len() != *wanted {
        Some(format!("{name}: {} errors, and not {wanted}:\n{all}", errors.len()))
    } else if !all.contains(says) {
        Some(format!("{name}: no error says \"{says}\":\n{all}"))
    } else if !hidden.is_empty() {
        Some(format!("{name}: an error names {hidden:?}:\n{all}"))
    } else {
        None
    }
}

#[test]
fn a_mistake_is_one_error_that_names_what_is_wrong() {
    let checker = Checker::new();
    assert_eq!(checker.errors(PROGRAM, To::Metadata), Vec::<String>::new(), "the program is right");
    let next = AtomicUsize::new(0);
    let check = || {
        let mut problems = Vec::new();
        while let Some(mistake) = MISTAKES.get(next.fetch_add(1, Ordering::Relaxed)) {
            problems.extend(problem(&checker, PROGRAM, To::Metadata, mistake));
        }
        problems
    };
    let count = thread::available_parallelism().map_or(1, usize::from);
    let problems: Vec<String> = thread::scope(|scope| {
        let threads: Vec<_> = (0..count).map(|_| scope.spawn(check)).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n\n"));
}

/// Checks the mistakes that `cargo check` does not find: the graph with parameters is made by its `new`.
#[test]
fn a_mistake_in_the_arguments_of_a_graph_is_found_when_it_is_built() {
    let checker = Checker::new();
    for to in [To::Metadata, To::Object] {
        assert_eq!(
            checker.errors(GENERIC_PROGRAM, to),
            Vec::<String>::new(),
            "the program is right"
        );
    }
    let built = MISTAKES_OF_ARGUMENTS.iter();
    let built = built.filter_map(|mistake| problem(&checker, GENERIC_PROGRAM, To::Object, mistake));
    let problems: Vec<String> = built.collect();
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n\n"));
}

/// Checks that there are at least 90 mistakes, and that at most one in 20 leads to several errors, each with a
/// reason.
#[test]
fn few_mistakes_are_more_than_one_error() {
    let several: Vec<&Mistake> = MISTAKES.iter().filter(|mistake| mistake.errors != 1).collect();
    assert!(MISTAKES.len() >= 90 && several.len() * 20 <= MISTAKES.len(), "{}", several.len());
    for Mistake { name, errors, reason, .. } in several {
        assert!(!reason.is_empty(), "{name}: {errors} errors without a reason");
    }
    let names: std::collections::BTreeSet<_> =
        MISTAKES.iter().map(|mistake| mistake.name).collect();
    assert_eq!(names.len(), MISTAKES.len(), "a name is given twice");
}

/// The control: a program with two mistakes has two errors, and a hidden name in an error is found.
#[test]
fn two_mistakes_are_two_errors() {
    let program = PROGRAM.replace("camera.frame >> brighten", "camera.fram >> brighten");
    let program = program.replace("count.number >> show", "count.numbr >> show");
    assert_eq!(Checker::new().errors(&program, To::Metadata).len(), 2);
    assert_eq!(hidden_names("a field `__x` exists, ::streamflow::__private::y"), ["__x"]);
}
