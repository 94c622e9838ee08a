//! Checks `holoscan/README.md`: each of NVIDIA's cases has a test or a reason, and each test that the page names exists.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

const PAGE: &str = include_str!("holoscan/README.md");

/// The groups of NVIDIA's cases by letter, each with its highest number.
const IDS: [(char, u32); 8] =
    [('S', 6), ('A', 3), ('C', 9), ('G', 9), ('M', 3), ('P', 4), ('X', 11), ('N', 22)];

/// Returns the rows of the table below a heading, as cells, without the table's own heading.
fn rows(heading: &str) -> Vec<Vec<&'static str>> {
    let part = PAGE.split("\n## ").find(|part| part.lines().next() == Some(heading));
    let lines = part.unwrap_or_default().lines().filter(|line| line.starts_with('|')).skip(2);
    let rows: Vec<Vec<&str>> =
        lines.map(|line| line.trim_matches('|').split('|').map(str::trim).collect()).collect();
    assert!(!rows.is_empty(), "`{heading}` has no rows");
    rows
}

/// Returns the texts between backticks.
fn quoted(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2)
}

/// Returns the fixtures (`ui/…`) and the tests (`file.rs: name`) that a cell names. Other quoted texts are code.
fn named<'c>(row: &[&'c str], column: usize) -> Vec<&'c str> {
    let names =
        quoted(row[column]).filter(|what| what.starts_with("ui/") || what.contains(".rs: "));
    let names: Vec<&str> = names.collect();
    assert!(!names.is_empty(), "no test in the row: {}", row[0]);
    names
}

fn path(inside: impl AsRef<Path>) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(inside)
}

fn ids(row: &[&'static str]) -> impl Iterator<Item = &'static str> {
    row[0].split(", ")
}

/// Returns the methods by which the sources of a suite add a test: `ordered` for `.ordered("name", …)`. A module with
/// tests that no suite adds does not pass the lints, since its function is not used.
fn added(source: &str, test: &str) -> Vec<String> {
    let name = format!("\"{test}\"");
    let before = source.match_indices(&name).map(|(at, _)| source[..at].trim_end());
    let calls = before.filter_map(|before| before.strip_suffix('(')?.rsplit_once('.'));
    calls.map(|(_, method)| method.to_owned()).collect()
}

/// Returns the mistake in a name on the page.
fn problem(what: &str) -> Option<String> {
    let Some((file, test)) = what.split_once(": ") else {
        let missing = ["rs", "stderr"].map(|end| !path(format!("{what}.{end}")).exists());
        return (missing != [false; 2]).then(|| format!("`{what}` does not exist"));
    };
    let source = fs::read_to_string(path(file)).unwrap_or_default();
    added(&source, test).is_empty().then(|| format!("`{file}` adds no test `{test}`"))
}

/// Returns the control that a test has, as the page calls it, or the mistake in the test.
fn control(what: &str) -> Result<&'static str, String> {
    let Some((file, test)) = what.split_once(": ") else { return Ok("–") };
    let source = fs::read_to_string(path(file)).unwrap_or_default();
    let added = added(&source, test);
    match added.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["ordered"] => Ok("waits"),
        ["contrasted"] => Ok("condition"),
        ["conditional"] => Ok("condition, waits"),
        ["both" | "devices"] | ["seeded", "cuda"] => Ok("–"),
        ref other => Err(format!("`{what}` does not run on both platforms: {other:?}")),
    }
}

fn assert_none(problems: &[String]) {
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn each_case_has_a_test_or_a_reason() {
    let numbered = IDS.iter().flat_map(|&(group, last)| (1..=last).map(move |n| (group, n)));
    let wanted: BTreeSet<String> =
        numbered.map(|(group, number)| format!("{group}{number}")).collect();
    // An ID may have two rows, with tests of two parts of its case.
    let all_ids =
        |heading| rows(heading).iter().flat_map(|row| ids(row).map(str::to_owned)).collect();
    let (shown, explained): (BTreeSet<_>, BTreeSet<_>) = (all_ids("Cases"), all_ids("Left out"));
    let found: BTreeSet<_> = shown.union(&explained).cloned().collect();
    assert_eq!(found, wanted);
    assert_eq!(shown.intersection(&explained).collect::<Vec<_>>(), Vec::<&String>::new());
    assert!(rows("Left out").iter().all(|row| !row[1].is_empty()));
}

#[test]
fn each_test_of_a_case_exists_with_its_control() {
    let mut problems = Vec::new();
    for row in rows("Cases") {
        assert_eq!(row.len(), 5, "{row:?}");
        let names = named(&row, 2);
        problems.extend(names.iter().filter_map(|what| problem(what)));
        let controls: Result<BTreeSet<_>, _> = names.iter().map(|what| control(what)).collect();
        match controls {
            // A fixture that does not compile has no control, and a test of an error needs none.
            Ok(mut controls) => {
                if controls.len() > 1 {
                    controls.remove("–");
                }
                let says = controls.iter().any(|control| row[3].starts_with(control));
                if !says || controls.len() > 1 {
                    problems.push(format!("{}: the control is {controls:?}", row[0]));
                }
            }
            Err(other) => problems.push(other),
        }
    }
    assert_none(&problems);
}

#[test]
fn each_gap_and_each_bad_input_has_tests() {
    let mut problems = Vec::new();
    for row in ["Gaps", "Bad input"].into_iter().flat_map(rows) {
        problems.extend(named(&row, 1).into_iter().filter_map(problem));
    }
    assert_none(&problems);
}

/// Checks that each text in the report column is part of what the compiler says about the row's fixtures.
#[test]
fn each_report_is_in_the_compilers_text() {
    for row in rows("Bad input") {
        let fixtures: Vec<&str> = quoted(row[1]).filter(|what| what.starts_with("ui/")).collect();
        let says = row[2].trim_matches('"');
        assert!(!says.is_empty(), "no report in the row: {}", row[0]);
        let said = fixtures.iter().any(|fixture| {
            let text = fs::read_to_string(path(format!("{fixture}.stderr")));
            text.is_ok_and(|text| text.contains(says))
        });
        assert!(fixtures.is_empty() || said, "{says:?} is in none of the texts of {fixtures:?}");
    }
}

/// The control: a name that no suite adds is found, even if the file's text has that name.
#[test]
fn a_test_that_is_not_added_is_found() {
    let source = ".ordered(\n    \"here\", here) // not \"there\"";
    assert_eq!(
        (added(source, "here"), added(source, "there")),
        (vec!["ordered".to_owned()], vec![])
    );
    assert!(problem("receive/ports.rs: there").is_some() && problem("ui/ports/there").is_some());
    assert!(control("errors.rs: a_pool_that_fails_returns_its_streams").is_err());
}
