//! Rules for all texts of `tests/ui` together, and its README, which lists them.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs, reason = "a test")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Names of ours that are no user's business. What a message begins with does not mention them.
const INTERNAL: &[&str] = &[
    "__private",
    "Accepts",
    "ReceivingEnd",
    "SendingEnd",
    "Awaited",
    "CarriesStream",
    "EdgeEnd",
    "Feeds",
    "HasMessage",
    "Inlet",
    "EdgeTarget",
    "InputPort",
    "NodeOptions",
    "Outlet",
    "Owned",
    "EdgeSource",
    "OutputPort",
    "Plain",
    "PortInfo",
    "Receive<",
    "Sends",
    "StreamReady",
    "Unchosen",
    "Unreceived",
];

/// An empty `graph! {}` has no token that could be underlined.
const WITHOUT_TOKENS: &[&str] = &["nodes/header"];

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ui")
}

/// `family/name` of all files that end so.
fn files(ending: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for family in fs::read_dir(directory()).unwrap().map(Result::unwrap) {
        if !family.file_type().unwrap().is_dir() {
            continue;
        }
        for file in fs::read_dir(family.path()).unwrap().map(Result::unwrap) {
            let file = file.file_name().into_string().unwrap();
            if let Some(name) = file.strip_suffix(ending) {
                names.insert(format!("{}/{name}", family.file_name().to_str().unwrap()));
            }
        }
    }
    names
}

/// The errors and warnings of a file.
fn diagnostics(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for line in text.lines() {
        if line.starts_with("error") || line.starts_with("warning") {
            found.push(String::new());
        }
        if let Some(last) = found.last_mut() {
            last.push_str(line);
            last.push('\n');
        }
    }
    found
}

/// What stands before the place.
fn message(diagnostic: &str) -> &str {
    diagnostic.split("-->").next().unwrap_or_default()
}

fn of_all(rule: impl Fn(&str, &str) -> Option<String>) {
    let mut broken = Vec::new();
    for name in files(".stderr") {
        let text = fs::read_to_string(directory().join(format!("{name}.stderr"))).unwrap();
        let found = diagnostics(&text);
        assert!(!found.is_empty(), "{name} says nothing");
        for diagnostic in found {
            let first = message(&diagnostic).lines().next().unwrap_or_default().to_owned();
            broken.extend(
                rule(&name, &diagnostic).map(|what| format!("{name}: {what}\n    {first}")),
            );
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn every_mistake_has_its_text() {
    let mut programs = files(".rs");
    programs.retain(|name| !name.starts_with("pass/"));
    assert_eq!(programs, files(".stderr"));
    assert!(programs.len() >= 170, "{}", programs.len());
    let several = programs.iter().filter(|name| name.starts_with("several/")).count();
    assert!(several >= 10, "{several}");
}

#[test]
fn no_text_blames_a_macro() {
    of_all(|name, text| {
        let blames = text.contains("this error originates in") && !WITHOUT_TOKENS.contains(&name);
        blames.then(|| "blames a macro".to_owned())
    });
}

#[test]
fn no_text_begins_with_what_is_internal() {
    of_all(|_, text| {
        let word = INTERNAL.iter().find(|word| message(text).contains(*word))?;
        Some(format!("begins with `{word}`"))
    });
}

/// Texts of ours say what to do: those of macros and constants in the message, since rustc lets them have
/// no notes; those of traits in a note.
#[test]
fn every_text_of_ours_says_what_to_do() {
    of_all(|_, text| {
        let message = message(text);
        let says = if message.starts_with("error: ") {
            // What rustc says without a code, of lifetimes and of lints, is its own.
            let of_rustc = ["lifetime may not", "unused ", "expected ", "cannot find attribute"];
            let of_rustc =
                of_rustc.iter().any(|begin| message["error: ".len()..].starts_with(begin));
            of_rustc
                || [";", ":", ",", "\n ", "did you", "only", "take"]
                    .iter()
                    .any(|sign| message["error: ".len()..].contains(sign))
        } else if message.starts_with("error[E0080]") {
            message.contains(';')
        } else if message.starts_with("error[E0277]") {
            let of_rustc = ["the trait bound", "cannot be s"];
            of_rustc.iter().any(|begin| message.contains(begin)) || text.contains("= note: ")
        } else {
            true
        };
        (!says).then(|| "does not say what to do".to_owned())
    });
}

#[test]
fn the_readme_lists_every_file_and_no_other() {
    let text = fs::read_to_string(directory().join("README.md")).unwrap();
    // Rows end with a link to the file; others are linked in their text.
    let rows = text.lines().filter(|line| line.starts_with("| "));
    let mut listed = BTreeSet::new();
    for row in rows {
        let cells: Vec<&str> = row.trim_matches(['|', ' ']).split(" | ").collect();
        assert!(cells.iter().all(|cell| !cell.is_empty()), "{row}");
        for link in row.split("](").skip(1) {
            let file = link.split(')').next().unwrap();
            assert!(directory().join(file).is_file(), "{file} is not there: {row}");
            listed.insert(file.strip_suffix(".rs").unwrap().to_owned());
        }
        // What is not shown by a file here is shown by a test beside this one.
        for test in row.split('`').filter(|word| word.ends_with(".rs")) {
            let path = directory().join("..").join(test);
            assert!(path.is_file(), "{test} is not there: {row}");
        }
    }
    let mut programs = files(".rs");
    programs.retain(|name| !name.starts_with("pass/"));
    assert_eq!(programs, listed);
}

/// The guide shows programs that do not compile, and what is said of them: those of `laws`, to the letter.
/// `TRYBUILD=overwrite`, which writes the texts anew, writes them there as well.
#[test]
fn the_guide_says_what_rustc_says() {
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../streamflow/src/guide");
    for name in files(".rs").iter().filter_map(|name| name.strip_prefix("laws/")) {
        let read = |path: PathBuf| {
            fs::read_to_string(&path).unwrap_or_else(|_| panic!("{}", path.display()))
        };
        let program = read(directory().join(format!("laws/{name}.rs")));
        let said = read(directory().join(format!("laws/{name}.stderr")));
        let path = guide.join(format!("{name}.md"));
        let chapter = read(path.clone());
        let (text, _) = chapter.split_once("```compile_fail\n").unwrap();
        let wanted = format!("{text}```compile_fail\n{program}```\n\n```text\n{}```\n", said);
        if std::env::var_os("TRYBUILD").is_some_and(|value| value == "overwrite") {
            fs::write(path, wanted).unwrap();
        } else {
            assert!(chapter == wanted, "{} is not what rustc says", path.display());
        }
    }
}
