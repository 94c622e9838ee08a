//! Checks README.md: each case has a test or a reason, each name exists, and each test has a row.

use std::fs;
use std::path::{Path, PathBuf};

use streamflow_tests::{Failed, Suite, check};

const README: &str = include_str!("README.md");

/// The groups of cases, with the last number of each.
const IDS: [(char, u32); 8] =
    [('S', 6), ('A', 3), ('C', 9), ('G', 9), ('M', 3), ('P', 4), ('X', 8), ('N', 16)];

pub(crate) fn tests(suite: Suite) -> Suite {
    let names = suite.names();
    let [again, more, last] = [names.clone(), names.clone(), names.clone()];
    suite
        .plain("readme_has_every_id", every_id)
        .plain("readme_names_only_existing_tests", move || cases(&names))
        .plain("readme_has_every_test", move || every_test(&again))
        .plain("readme_gaps_have_tests", move || rows_have_tests("## Gaps", 1, &more))
        .plain("readme_bad_inputs_have_tests_and_their_reports", move || {
            rows_have_tests("## Bad input", 1, &last)?;
            texts()
        })
}

/// The rows of the table below a heading, without its own heading, as cells.
fn rows(heading: &str) -> Result<Vec<Vec<&'static str>>, Failed> {
    let found =
        README.split("\n## ").find(|part| heading.strip_prefix("## ") == part.lines().next());
    let part = found.ok_or_else(|| Failed::msg(format!("no section `{heading}`")))?;
    let rows: Vec<Vec<&str>> = part
        .lines()
        .filter(|line| line.starts_with('|'))
        .skip(2)
        .map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
        .collect();
    check(!rows.is_empty(), || format!("`{heading}` has no rows"))?;
    Ok(rows)
}

/// The texts between backticks.
fn quoted(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2)
}

fn ids(cell: &str) -> impl Iterator<Item = &str> {
    cell.split(", ")
}

fn path(inside: impl AsRef<Path>) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(inside)
}

/// Whether a name in a row exists: a mistake that does not compile (`ui/…`), a test of another file (`file.rs: name`),
/// or a test of this suite.
fn exists(what: &str, names: &[String]) -> bool {
    if what.starts_with("ui/") {
        return path(format!("{what}.rs")).exists() && path(format!("{what}.stderr")).exists();
    }
    match what.split_once(": ") {
        Some((file, test)) => {
            fs::read_to_string(path(file)).is_ok_and(|text| text.contains(&format!("\"{test}\"")))
        }
        None => names.iter().any(|name| name == what || *name == format!("{what}::host")),
    }
}

/// Each ID has a row: with a test whose name begins with it, or with a reason.
fn every_id() -> Result<(), Failed> {
    let numbered = IDS.iter().flat_map(|&(group, last)| (1..=last).map(move |n| (group, n)));
    let wanted = numbered
        .chain([('X', 10), ('N', 18), ('N', 19), ('N', 20)])
        .map(|(group, number)| format!("{group}{number}"));
    let (cases, left_out) = (rows("## Cases")?, rows("## Left out")?);
    for id in wanted {
        let has = |row: &&Vec<&str>| ids(row[0]).any(|one| one == id);
        let shown = cases
            .iter()
            .filter(has)
            .any(|row| quoted(row[2]).any(|test| ids_of(test).any(|one| one == id)));
        let explained = left_out.iter().filter(has).any(|row| !row[1].is_empty());
        check(shown != explained, || format!("{id}: a test ({shown}) or a reason ({explained})?"))?;
    }
    Ok(())
}

/// Each test of a row exists, on the row's platforms, and has a control if the row says so.
fn cases(names: &[String]) -> Result<(), Failed> {
    let has = |name: String| names.contains(&name);
    for row in rows("## Cases")? {
        check(row.len() == 6, || format!("not six cells: {row:?}"))?;
        for test in quoted(row[2]) {
            check(exists(test, names), || format!("{}: `{test}` does not exist", row[0]))?;
            if test.contains('/') || test.contains(": ") {
                continue;
            }
            let on_gpu = row[3].contains("GPU");
            check(has(format!("{test}::cuda")) == on_gpu, || {
                format!("`{test}` and its row disagree on GPU")
            })?;
            let controlled = row[4] != "–";
            let (host, cuda) = (format!("{test}_control::host"), format!("{test}_control::cuda"));
            check(has(host) == controlled && has(cuda) == (controlled && on_gpu), || {
                format!("`{test}` and its row disagree on the control")
            })?;
        }
    }
    Ok(())
}

/// The IDs that a test's name begins with.
fn ids_of(name: &str) -> impl Iterator<Item = String> {
    let is_id = |part: &&str| {
        let mut letters = part.chars();
        let group = letters.next().is_some_and(|first| "sacgmpxn".contains(first));
        group && !letters.as_str().is_empty() && letters.all(|rest| rest.is_ascii_digit())
    };
    name.split('_').take_while(is_id).map(str::to_uppercase)
}

/// Each test of an ID is in that ID's row.
fn every_test(names: &[String]) -> Result<(), Failed> {
    let cases = rows("## Cases")?;
    let tests = names.iter().filter_map(|name| name.strip_suffix("::host"));
    for test in tests.filter(|test| !test.ends_with("_control")) {
        for id in ids_of(test) {
            let named = cases.iter().any(|row| {
                ids(row[0]).any(|one| one == id) && quoted(row[2]).any(|named| named == test)
            });
            check(named, || format!("`{test}` is not in the row of {id}"))?;
        }
    }
    Ok(())
}

/// Each row names a test, and each name in it exists.
fn rows_have_tests(heading: &str, column: usize, names: &[String]) -> Result<(), Failed> {
    for row in rows(heading)? {
        let shown: Vec<&str> = quoted(row[column]).collect();
        check(!shown.is_empty(), || format!("no test in the row: {}", row[0]))?;
        for what in shown {
            check(exists(what, names), || format!("{}: `{what}` does not exist", row[0]))?;
        }
    }
    Ok(())
}

/// The report column quotes the compiler's text of the row's fixtures.
fn texts() -> Result<(), Failed> {
    for row in rows("## Bad input")? {
        let fixtures: Vec<&str> = quoted(row[1]).filter(|what| what.starts_with("ui/")).collect();
        let (says, compiles) = (row[2].trim_matches('"'), fixtures.is_empty());
        check(!says.is_empty(), || format!("no report in the row: {}", row[0]))?;
        let said = fixtures.iter().any(|fixture| {
            let text = fs::read_to_string(path(format!("{fixture}.stderr")));
            text.is_ok_and(|text| text.contains(says))
        });
        check(compiles || said, || format!("{says:?} is in none of the texts of {fixtures:?}"))?;
    }
    Ok(())
}
