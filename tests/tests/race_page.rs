//! The guide's page about the race checker's reports. Its programs must be those of
//! `tests/src/foreign/reports.rs`, its reports must be what these programs print, and the right programs must
//! have no report.

use std::fs;
use std::path::{Path, PathBuf};

use streamflow::prelude::*;
use streamflow_tests::foreign::reports;
use streamflow_tests::{Failed, Suite, check, check_equal};

type Program = fn(&Platform, &CudaStream) -> Result<()>;

/// The wrong programs and their right variants, by name.
const PROGRAMS: [[(&str, Program); 2]; 3] = [
    [("unwritten", reports::unwritten), ("written", reports::written)],
    [("freed", reports::freed), ("freed_last", reports::freed_last)],
    [("stale", reports::stale), ("destroyed_last", reports::destroyed_last)],
];

pub(crate) fn suite() -> Suite {
    Suite::new()
        .plain("each_report_of_the_page_is_what_its_program_prints", reports_match)
        .plain("each_program_of_the_page_is_the_one_that_was_run", programs_match)
        .plain("the_right_programs_of_the_page_have_no_report", right_ones)
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Returns the page's code blocks of one language, without the lines that rustdoc hides.
fn blocks(language: &str) -> Result<Vec<String>, Failed> {
    let page = fs::read_to_string(root().join("streamflow/src/guide/race_reports.md"))?;
    let begin = format!("```{language}\n");
    let blocks = page.split(&begin).skip(1).filter_map(|rest| rest.split_once("\n```"));
    let shown = blocks.map(|(block, _)| {
        let lines = block.lines().filter(|line| !line.starts_with("# ") && *line != "#");
        lines.collect::<Vec<_>>().join("\n")
    });
    Ok(shown.collect())
}

/// Runs a program on the simulator. Returns the text of its reports.
fn run(program: Program) -> Result<String, Failed> {
    let platform = Platform::host().seed(0).race_check(true).build()?;
    let stream = platform.stream_pool("POOL", &CudaStreamPool::new())?.allocate("work")?;
    // The simulator refuses a stale handle, in addition to the checker's report, so the error is ignored.
    let _refused = program(&platform, &stream);
    let races = platform.take_races();
    Ok(if races.is_empty() { String::new() } else { races.to_string() })
}

fn reports_match() -> Result<(), Failed> {
    let texts = blocks("text")?;
    check_equal(texts.len(), PROGRAMS.len())?;
    for (text, [(name, wrong), _]) in texts.iter().zip(PROGRAMS) {
        let found = run(wrong)?;
        let found = found.lines().map(str::trim_end).collect::<Vec<_>>().join("\n");
        check(*text == found, || format!("{name} prints:\n{found}"))?;
    }
    Ok(())
}

fn programs_match() -> Result<(), Failed> {
    let source = fs::read_to_string(root().join("tests/src/foreign/reports.rs"))?;
    let shown = blocks("rust")?;
    let all = PROGRAMS.as_flattened();
    check_equal(shown.len(), all.len())?;
    for (block, (name, _)) in shown.iter().zip(all) {
        let begin = format!("pub fn {name}(");
        let function = source.split_once(&begin).and_then(|(_, rest)| rest.split_once("\n}\n"));
        let function = function.map(|(body, _)| format!("fn {name}({body}\n}}"));
        check(function.as_ref() == Some(block), || format!("{name} is not:\n{block}"))?;
    }
    Ok(())
}

fn right_ones() -> Result<(), Failed> {
    PROGRAMS.into_iter().try_for_each(|[_, (name, right)]| {
        let found = run(right)?;
        check(found.is_empty(), || format!("{name}: {found}"))
    })
}
