//! Rules for all texts of `tests/ui`, and for its README with the list of texts.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs, reason = "a test")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Internal names of streamflow. The beginning of a message must not mention them.
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
    "`Limits",
    "OperatorParams",
    "Outlet",
    "ParamMaker",
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

/// The texts about a use of a macro without tokens. rustc has no other place to underline, and names the macro beside it.
const WITHOUT_TOKENS: &[&str] = &["error: this is no graph:", "error: `expr!` is empty:"];

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ui")
}

/// `family/name` of all files with this ending.
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

/// The text before the source location.
fn message(diagnostic: &str) -> &str {
    diagnostic.split("-->").next().unwrap_or_default()
}

fn check_all(rule: impl Fn(&str, &str) -> Option<String>) {
    let mut broken = Vec::new();
    for name in files(".stderr") {
        let text = fs::read_to_string(directory().join(format!("{name}.stderr"))).unwrap();
        let found = diagnostics(&text);
        assert!(!found.is_empty(), "{name} has no diagnostic");
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
fn no_text_names_a_macro_as_the_origin() {
    check_all(|_, text| {
        let has_tokens = !WITHOUT_TOKENS.iter().any(|begin| text.starts_with(begin));
        let blames = has_tokens && text.contains("this error originates in");
        blames.then(|| "names a macro as the origin".to_owned())
    });
}

#[test]
fn no_text_begins_with_an_internal_name() {
    check_all(|_, text| {
        let word = INTERNAL.iter().find(|word| message(text).contains(*word))?;
        Some(format!("begins with `{word}`"))
    });
}

/// Where rust-src is installed, rustc shows the lines of the standard library that it names. So a text would depend on that,
/// and a mistake is written with functions and types of its own in the place of the library's.
#[test]
fn no_text_shows_the_standard_library() {
    check_all(|_, text| {
        text.contains("$RUST/").then(|| "names a place in the standard library".to_owned())
    });
}

/// streamflow's own texts say what to do: those of macros and constants in the message, since rustc allows them no
/// notes; those of traits in a note.
#[test]
fn each_text_of_streamflow_says_what_to_do() {
    check_all(|_, text| {
        let message = message(text);
        let says = if message.starts_with("error: ") {
            // These texts without a code, about lifetimes and lints, are rustc's own.
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
    // Rows end with a link to the file. Other files are linked in the text.
    let rows = text.lines().filter(|line| line.starts_with("| "));
    let mut listed = BTreeSet::new();
    for row in rows {
        let cells: Vec<&str> = row.trim_matches(['|', ' ']).split(" | ").collect();
        assert!(cells.iter().all(|cell| !cell.is_empty()), "{row}");
        for link in row.split("](").skip(1) {
            let file = link.split(')').next().unwrap();
            assert!(directory().join(file).is_file(), "{file} does not exist: {row}");
            listed.insert(file.strip_suffix(".rs").unwrap().to_owned());
        }
        // A mistake without a file here has a test in the parent directory.
        for test in row.split('`').filter(|word| word.ends_with(".rs")) {
            let path = directory().join("..").join(test);
            assert!(path.is_file(), "{test} does not exist: {row}");
        }
    }
    let mut programs = files(".rs");
    programs.retain(|name| !name.starts_with("pass/"));
    assert_eq!(programs, listed);
}

/// The guide shows the programs of `laws`, which do not compile, with rustc's exact texts. `TRYBUILD=overwrite`, which
/// rewrites the texts, also rewrites them there.
#[test]
fn the_guide_quotes_rustc_exactly() {
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
            assert!(chapter == wanted, "{} does not quote rustc exactly", path.display());
        }
    }
}

/// Where the README shows rustc's quotation of the library, the numbered lines are those of the file.
#[test]
fn the_readme_quotes_the_library_as_it_is() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let readme = fs::read_to_string(root.join("README.md")).unwrap();
    let (mut source, mut compared) = (Vec::new(), 0);
    for line in readme.lines() {
        if let Some(place) = line.trim_start().strip_prefix("--> ") {
            let file = place.split(':').next().unwrap();
            let text = if file.starts_with("streamflow/") {
                fs::read_to_string(root.join(file)).unwrap()
            } else {
                String::new()
            };
            source = text.lines().map(str::to_owned).collect();
        }
        let quoted = line.split_once(" | ").and_then(|(number, quoted)| {
            number.trim().parse::<usize>().ok().map(|number| (number, quoted))
        });
        if let Some((number, quoted)) = quoted.filter(|_| !source.is_empty()) {
            assert_eq!(source[number - 1], quoted, "line {number}");
            compared += 1;
        }
    }
    assert_eq!(compared, 3);
}
