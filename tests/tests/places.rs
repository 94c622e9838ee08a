//! Conditions, elements, errors, operators and driver calls each have to be added in several places of the code. A page
//! in `docs` lists the places for each. These tests read the names from the code that defines them, and check that each
//! place has all of them.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, TokenStream, TokenTree};

type Names = BTreeSet<String>;

fn path(relative: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(relative)
}

fn text(relative: &str) -> String {
    fs::read_to_string(path(relative)).unwrap_or_else(|error| panic!("{relative}: {error}"))
}

fn tokens(relative: &str) -> TokenStream {
    text(relative).parse().unwrap_or_else(|error| panic!("{relative}: {error}"))
}

/// Returns the Rust files in a folder and its subfolders.
fn files(at: &Path) -> Vec<PathBuf> {
    if at.is_dir() {
        let below = fs::read_dir(at).unwrap().map(|entry| entry.unwrap().path());
        return below.flat_map(|path| files(&path)).collect();
    }
    let is_rust = at.extension().is_some_and(|ending| ending == "rs");
    is_rust.then(|| at.to_owned()).into_iter().collect()
}

/// Calls a function with each list of tokens: the code's own, and that of each group inside of it.
fn each_list(code: TokenStream, see: &mut impl FnMut(&[TokenTree])) {
    let list: Vec<_> = code.into_iter().collect();
    see(&list);
    for token in list {
        if let TokenTree::Group(group) = token {
            each_list(group.stream(), see);
        }
    }
}

fn is(token: Option<&TokenTree>, text: &str) -> bool {
    token.is_some_and(|token| token.to_string() == text)
}

/// The groups that come at once after these words.
fn groups(code: TokenStream, words: &[&str], delimiter: Delimiter) -> Vec<TokenStream> {
    let mut found = Vec::new();
    each_list(code, &mut |list| {
        for window in list.windows(words.len() + 1) {
            if let Some((TokenTree::Group(group), before)) = window.split_last()
                && group.delimiter() == delimiter
                && before.iter().zip(words).all(|(token, word)| is(Some(token), word))
            {
                found.push(group.stream());
            }
        }
    });
    found
}

/// Returns the list in a constant: `const NAME: &[…] = &[…]`.
fn constant(code: TokenStream, name: &str) -> TokenStream {
    let mut found = TokenStream::new();
    each_list(code, &mut |list| {
        let at = list.windows(2).position(|it| is(it.first(), "const") && is(it.get(1), name));
        let value = at.and_then(|at| list[at..].iter().skip_while(|it| !is(Some(it), "=")).nth(2));
        if let Some(TokenTree::Group(value)) = value {
            found = value.stream();
        }
    });
    found
}

/// Returns the strings in code, without their quotation marks.
fn strings(code: TokenStream) -> Names {
    let mut found = Names::new();
    each_list(code, &mut |list| {
        let texts = list.iter().map(ToString::to_string);
        found.extend(
            texts.filter_map(|text| Some(text.strip_prefix('"')?.strip_suffix('"')?.to_owned())),
        );
    });
    found
}

fn identifiers(code: TokenStream) -> Names {
    let mut found = Names::new();
    each_list(code, &mut |list| {
        found.extend(
            list.iter().filter(|it| matches!(it, TokenTree::Ident(_))).map(ToString::to_string),
        );
    });
    found
}

/// The identifiers in groups of the files below these paths.
fn identifiers_below(places: &[&str], words: &[&str], delimiter: Delimiter) -> Names {
    let files = places.iter().flat_map(|place| files(&path(place)));
    let groups = files.flat_map(|file| {
        let code: TokenStream = fs::read_to_string(file).unwrap().parse().unwrap();
        groups(code, words, delimiter)
    });
    groups.flat_map(identifiers).collect()
}

/// Fails if names are missing in a place.
fn check_all(names: &Names, place: &str, there: &Names) {
    let missing: Vec<_> = names.difference(there).collect();
    assert!(!names.is_empty() && missing.is_empty(), "{place} has not: {missing:?}");
}

// ---- conditions ----------------------------------------------------------------------------------

/// The names of the rows of `FORMS`, each a pair of a name and a text.
fn conditions() -> Names {
    let rows = constant(tokens("streamflow-macros/src/graph/parse/conditions.rs"), "FORMS");
    let names = rows.into_iter().filter_map(|row| match row {
        TokenTree::Group(row) => row.stream().into_iter().next(),
        _ => None,
    });
    names.map(|name| name.to_string().trim_matches('"').to_owned()).collect()
}

/// The words that begin the code in the first column of a table.
fn first_column(page: &str, title: &str) -> Names {
    let begin = format!("| {title} |");
    let rows = page.lines().skip_while(|line| !line.starts_with(&begin)).skip(2);
    let rows = rows.take_while(|line| line.starts_with('|'));
    let words = rows.filter_map(|row| {
        let code = row.split('`').nth(1)?;
        Some(code.split(|c: char| !c.is_alphanumeric() && c != '_').next()?.to_owned())
    });
    words.collect()
}

/// Checks the kinds of the macro, its errors and the words that editors offer:
/// `streamflow-macros/src/graph/tests/conditions.rs`.
#[test]
fn each_condition_is_in_its_places() {
    let names = conditions();
    let page = "streamflow/src/guide/conditions.md";
    assert_eq!(first_column(&text(page), "Condition"), names, "{page}");
    let grammar = text("streamflow-macros/src/lib.rs");
    let lines = grammar.lines().skip_while(|line| !line.starts_with("/// condition "));
    let lines = lines.take_while(|line| !line.starts_with("/// duration "));
    let quoted = lines.flat_map(|line| line.split('"').skip(1).step_by(2));
    let words = quoted.map(|word| word.trim_end_matches(['(', '[']).to_owned()).collect();
    check_all(&names, "the grammar of `graph!`, in streamflow-macros/src/lib.rs,", &words);
    for place in ["tests/tests/conditions", "tests/tests/ui/conditions"] {
        let there = identifiers_below(&[place], &["when"], Delimiter::Parenthesis);
        check_all(&names, place, &there);
    }
}

// ---- elements ------------------------------------------------------------------------------------

/// Returns the names of the element types in Rust and in NumPy.
fn elements() -> (Names, Names) {
    let files = files(&path("streamflow/src/memory/element"));
    let lists = files.iter().flat_map(|file| {
        let code: TokenStream = fs::read_to_string(file).unwrap().parse().unwrap();
        groups(code, &["elements", "!"], Delimiter::Brace)
    });
    let (mut rust, mut numpy) = (Names::new(), Names::new());
    for list in lists {
        let list: Vec<_> = list.into_iter().collect();
        for row in list.split(|token| is(Some(token), ";")).filter(|row| !row.is_empty()) {
            let ty = row.iter().take_while(|token| !is(Some(token), ":"));
            rust.insert(ty.map(ToString::to_string).collect());
            numpy.insert(row.last().unwrap().to_string().trim_matches('"').to_owned());
        }
    }
    (rust, numpy)
}

/// Returns the types in a list with commas.
fn types(list: TokenStream) -> Names {
    let list: Vec<_> = list.into_iter().collect();
    let types = list.split(|token| is(Some(token), ","));
    types.map(|ty| ty.iter().map(ToString::to_string).collect()).collect()
}

#[test]
fn each_element_is_in_its_places() {
    let (rust, numpy) = elements();
    for name in &numpy {
        let ty = streamflow::memory::dlpack::DlType::of_name(name);
        assert_eq!(ty.map(|ty| ty.to_string()).as_ref(), Some(name), "DLPack's type of {name}");
    }
    for place in ["bindings/python/src/dtype.rs", "streamflow/src/testing/bodies/tolerance.rs"] {
        // The last arm of `tolerance.rs` has the widest integers.
        let others = Names::from(["uint64".to_owned()]);
        let there = strings(tokens(place));
        check_all(&numpy, place, &there.union(&others).cloned().collect());
    }
    // `Bool8` is a mask and not a number.
    let numbers = &rust - &Names::from(["Bool8".to_owned()]);
    let typed = "tests/src/kernels/typed.rs";
    let instances = groups(tokens(typed), &["instances"], Delimiter::Parenthesis);
    check_all(&numbers, typed, &types(instances.into_iter().next().unwrap()));
    let simple: Names = rust.iter().filter(|name| !name.contains('<')).cloned().collect();
    let listed = strings(constant(tokens("streamflow-macros/src/tokens.rs"), "ELEMENTS"));
    check_all(&simple, "ELEMENTS of streamflow-macros/src/tokens.rs", &listed);
}

// ---- errors --------------------------------------------------------------------------------------

/// Errors that a test knows by their text: the file, and a part of it.
const BY_TEXT: &[(&str, &str, &str)] = &[
    ("FeedbackLost", "tests/tests/feedback.rs", "make a new graph"),
    ("NoStream", "tests/tests/errors/no_stream.rs", "has received no stream"),
    ("NotSynchronized", "tests/tests/managed_streams.rs", "not passed to `synchronize_streams`"),
    ("NothingToAdopt", "tests/tests/graph_ends.rs", "receive a required input"),
    ("ParamAssigned", "tests/tests/parameters/assigned.rs", "assigned its parameter `"),
    ("ParamOfDroppedGraph", "tests/tests/parameters/setting.rs", "its graph was dropped"),
    ("QueueFull", "tests/tests/queues.rs", "`#[capacity(…)]`"),
    ("Unexplored", "tests/tests/explore/judged.rs", "the test is not explored"),
    ("Unhandled", "tests/tests/graph_ends.rs", "neither received, left nor discarded"),
];

/// Errors that no Rust test names, each with the reason.
const NOT_NAMED: &[(&str, &str)] = &[
    ("NoThread", "the system would have to refuse a thread"),
    ("NoWatcher", "the system would have to refuse a thread"),
    (
        "OutOfRange",
        "the table of `tests/tests/sizes.rs` has each range, with the numbers beside it",
    ),
];

/// Returns the variants of an enum, each with its attributes and its fields.
fn variants(file: &str, name: &str) -> Vec<(String, Vec<TokenTree>)> {
    let body = groups(tokens(file), &["enum", name], Delimiter::Brace);
    let mut variants: Vec<(String, Vec<TokenTree>)> = Vec::new();
    let (mut before, mut is_new) = (Vec::new(), true);
    for token in body.into_iter().flatten() {
        match &token {
            TokenTree::Ident(name) if is_new => {
                variants.push((name.to_string(), std::mem::take(&mut before)));
                is_new = false;
            }
            TokenTree::Punct(punct) if punct.as_char() == ',' => is_new = true,
            _ => before.push(token),
        }
    }
    variants
}

/// The variants that code names: `Error::Stalled`, or in a test within a file of the library.
fn named(code: TokenStream, of: &str, found: &mut Names) {
    each_list(code, &mut |list| {
        for window in list.windows(4) {
            if is(Some(&window[0]), of) && is(Some(&window[1]), ":") && is(Some(&window[2]), ":") {
                found.insert(window[3].to_string());
            }
        }
    });
}

fn is_library(place: &Path) -> bool {
    place.ends_with("streamflow/src") || place.ends_with("crates")
}

/// Returns the test code that may name an error: whole files of tests, and `mod tests` of other files.
fn tests_of_errors() -> Vec<TokenStream> {
    let mut code = Vec::new();
    for place in
        ["tests/tests", "tests/src", "examples/tests", "streamflow/src", "crates"].map(path)
    {
        for file in files(&place) {
            let text = fs::read_to_string(&file).unwrap();
            if !text.contains("Error::") {
                continue;
            }
            let below = file.strip_prefix(&place).unwrap();
            let is_of_tests = below.iter().any(|part| part == "tests" || part == "tests.rs");
            let tokens: TokenStream = text.parse().unwrap();
            match is_of_tests || !is_library(&place) {
                true => code.push(tokens),
                false => code.extend(groups(tokens, &["mod", "tests"], Delimiter::Brace)),
            }
        }
    }
    code
}

#[test]
fn each_error_is_caused_by_a_test() {
    let tests = tests_of_errors();
    for (file, name) in [
        ("streamflow/src/error.rs", "Error"),
        ("crates/streamflow-driver/src/driver/error.rs", "DriverError"),
    ] {
        let mut found = Names::new();
        tests.iter().for_each(|tests| named(tests.clone(), name, &mut found));
        let all: Names = variants(file, name).into_iter().map(|(name, _)| name).collect();
        let by_text = BY_TEXT.iter().map(|(name, ..)| *name);
        let excused = by_text.chain(NOT_NAMED.iter().map(|(name, _)| *name));
        let excused: Names = excused.map(str::to_owned).filter(|name| all.contains(name)).collect();
        let needless: Vec<_> = excused.intersection(&found).collect();
        assert!(needless.is_empty(), "a test names these, so they need no row: {needless:?}");
        let there = found.union(&excused).cloned().collect();
        check_all(&all, &format!("a test that names each `{name}`"), &there);
    }
}

#[test]
fn an_error_that_is_known_by_its_text_has_this_text() {
    let errors = variants("streamflow/src/error.rs", "Error");
    for (name, file, part) in BY_TEXT {
        let (_, before) = errors.iter().find(|(known, _)| known == name).unwrap();
        let text: String = before.iter().map(ToString::to_string).collect();
        assert!(text.contains(part), "the text of {name} has no {part:?}");
        let there = strings(tokens(file));
        assert!(there.iter().any(|text| text.contains(part)), "{file} has no {part:?}");
    }
}

// ---- operators -----------------------------------------------------------------------------------

/// Returns a folder and its subfolders, each of which has a `mod.rs`.
fn folders(at: &Path) -> Vec<PathBuf> {
    let inner = fs::read_dir(at).unwrap().map(|entry| entry.unwrap().path());
    let inner = inner.filter(|path| path.is_dir()).flat_map(|path| folders(&path));
    [at.to_owned()].into_iter().chain(inner).collect()
}

/// Returns the structs with `#[operator]` in the files of a folder, without its subfolders.
fn operators(folder: &Path) -> Names {
    let mut names = Names::new();
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    for file in files.filter(|path| path.extension().is_some_and(|ending| ending == "rs")) {
        let code: Vec<_> =
            fs::read_to_string(file).unwrap().parse::<TokenStream>().unwrap().into_iter().collect();
        for (at, window) in code.windows(3).enumerate() {
            // The item's attributes: groups in brackets, each after a `#`.
            let attributes = code[..at].iter().rev().take_while(|token| {
                let is_attribute =
                    matches!(token, TokenTree::Group(it) if it.delimiter() == Delimiter::Bracket);
                is_attribute || is(Some(token), "#")
            });
            let begins = |token: &TokenTree| match token {
                TokenTree::Group(group) => {
                    is(group.stream().into_iter().next().as_ref(), "operator")
                }
                _ => false,
            };
            if is(window.first(), "pub")
                && is(window.get(1), "struct")
                && attributes.into_iter().any(begins)
            {
                names.insert(window[2].to_string());
            }
        }
    }
    names
}

/// Returns the words of a text that are in backticks.
fn quoted<'a>(lines: impl Iterator<Item = &'a str>) -> Names {
    lines.flat_map(|line| line.split('`').skip(1).step_by(2)).map(str::to_owned).collect()
}

#[test]
fn each_operator_is_in_its_places() {
    let mut used = Names::new();
    for file in files(&path("tests/tests")) {
        let text = fs::read_to_string(file).unwrap();
        if text.contains("operators::") {
            used.extend(identifiers(text.parse().unwrap()));
        }
    }
    let homes = ["streamflow/src/operators", "crates/streamflow-math/src/operators"];
    for folder in homes.iter().flat_map(|home| folders(&path(home))) {
        let names = operators(&folder);
        let module = format!("{}/mod.rs", folder.display());
        check_all(&names, &module, &identifiers(tokens(&module)));
        let page = text(&module);
        let listed = page.lines().filter_map(|line| line.strip_prefix("//!"));
        check_all(&names, &format!("the list of {module}"), &quoted(listed));
        check_all(&names, "tests/tests", &used);
    }
}

#[test]
fn each_operator_of_images_is_in_its_places() {
    let home = "crates/streamflow-vision";
    let names =
        folders(&path(&format!("{home}/src"))).iter().flat_map(|it| operators(it)).collect();
    let (library, readme) = (format!("{home}/src/lib.rs"), format!("{home}/README.md"));
    check_all(&names, &library, &identifiers(tokens(&library)));
    let page = text(&library);
    let rows = page.lines().filter(|line| line.starts_with("//! | ["));
    check_all(&names, &format!("the table of {library}"), &quoted(rows));
    let page = text(&readme);
    let rows = page.lines().filter_map(|line| line.strip_prefix("| ")?.split(" |").next());
    check_all(&names, &format!("the table of {readme}"), &quoted(rows));
    let tests = files(&path("tests/tests/vision"));
    let used = tests.iter().map(|file| fs::read_to_string(file).unwrap().parse().unwrap());
    check_all(&names, "tests/tests/vision", &used.flat_map(identifiers).collect());
}

// ---- calls of the driver -------------------------------------------------------------------------

/// Driver calls that queue nothing and make nothing. The recorder does not note them, and no test makes one fail.
const QUESTIONS: &[&str] = &[
    "name",
    "device_count",
    "device_info",
    "sticky_error",
    "default_stream",
    "device_of_stream",
    "sm_sizes",
    "elapsed",
];

/// The names of the functions that code declares, with a body or without.
fn functions(code: TokenStream) -> Names {
    let mut names = Names::new();
    each_list(code, &mut |list| {
        let declared = list.windows(2).filter(|window| is(window.first(), "fn"));
        names.extend(declared.map(|window| window[1].to_string()));
    });
    names
}

#[test]
fn each_call_of_the_driver_is_in_its_places() {
    let folder = "crates/streamflow-driver/src/driver";
    let mut calls = Names::new();
    let code: Vec<_> = tokens(&format!("{folder}/mod.rs")).into_iter().collect();
    let at = code.windows(2).position(|it| is(it.first(), "trait") && is(it.get(1), "Driver"));
    let is_body = |token: &&TokenTree| matches!(token, TokenTree::Group(it) if it.delimiter() == Delimiter::Brace);
    if let Some(TokenTree::Group(body)) = code[at.unwrap()..].iter().find(is_body) {
        calls = functions(body.stream());
    }
    // The compiler requires each call in drivers, but not in layers: a layer passes a new call on by default.
    let layers = format!("{folder}/layer.rs");
    check_all(&calls, &layers, &functions(tokens(&layers)));
    let questions: Names = QUESTIONS.iter().map(|name| (*name).to_owned()).collect();
    check_all(&questions, "the trait `Driver`", &calls);
    let effects = &calls - &questions;
    let recorder = format!("{folder}/recorder/layer.rs");
    check_all(&effects, &recorder, &functions(tokens(&recorder)));
    // An event that measures times fails as any other event does, so no test makes it fail.
    let failing = &effects - &Names::from(["create_timing_event".to_owned()]);
    let fail_nth = "tests/src/layers/fail_nth.rs";
    check_all(&failing, fail_nth, &functions(tokens(fail_nth)));
}
