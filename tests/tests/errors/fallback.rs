//! Checks that `Platform::detect` says once that a machine has no GPU. Each test is a separate process that sees
//! no GPU.

use std::io::{self, Write};

use streamflow::prelude::*;
use streamflow_tests::{
    EachLine, Failed, Suite, check, check_equal, check_error, check_text, child,
};
use tracing::level_filters::LevelFilter;
use tracing::{Level, Subscriber};

use super::variables;

const ALONE: &str = "without a subscriber";
const WARNINGS: &str = "a subscriber of warnings";
const ERRORS: &str = "a subscriber of errors";
const ASKED: &str = "the simulator was asked for";
const CUDA: &str = "CUDA was asked for";

const LINE: &str = "the platform is the host simulator: no GPU can be used: ";

pub(crate) fn add(suite: Suite) -> Suite {
    suite
        .plain("a_fallback_is_a_line_on_standard_error", || on_stderr(ALONE))
        .plain("a_subscriber_that_takes_no_warnings_leaves_it_there", || on_stderr(ERRORS))
        .plain("a_subscriber_takes_the_line_from_standard_error", taken)
        .plain("a_missing_gpu_is_an_error", || {
            child::run("errors", CUDA, &[("CUDA_VISIBLE_DEVICES", "")])
        })
        .plain("the_simulator_that_was_asked_for_is_no_fallback", || {
            check_equal(outputs(ASKED)?.1, String::new())
        })
}

/// Returns the texts of a child process on standard output and on standard error.
fn outputs(role: &str) -> Result<(String, String), Failed> {
    let output = child::command("errors", role)?.env("CUDA_VISIBLE_DEVICES", "").output()?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    check(output.status.success(), || format!("{stdout}{stderr}"))?;
    Ok((stdout, stderr))
}

fn on_stderr(role: &str) -> Result<(), Failed> {
    let (stdout, stderr) = outputs(role)?;
    let (mut lines, begin) = (stderr.lines(), format!("streamflow: {LINE}"));
    let is_right =
        lines.next().is_some_and(|line| line.starts_with(&begin) && line.len() > begin.len());
    check(is_right && lines.next().is_none(), || stderr.clone())?;
    check(!stdout.contains(LINE), || stdout.clone())
}

fn taken() -> Result<(), Failed> {
    let (stdout, stderr) = outputs(WARNINGS)?;
    check_equal(stderr, String::new())?;
    let warnings = stdout.lines().filter(|line| line.starts_with("WARN") && line.contains(LINE));
    check(warnings.count() == 1, || stdout.clone())
}

pub(crate) fn in_child(role: &str) -> Result<(), Failed> {
    match role {
        CUDA => {
            let text = check_error("no GPU", Platform::cuda(), |_| true)?;
            return check_text(&text, &["CUDA", "host simulator"]);
        }
        WARNINGS => tracing::subscriber::set_global_default(prints(LevelFilter::WARN))?,
        ERRORS => tracing::subscriber::set_global_default(prints(LevelFilter::ERROR))?,
        variables::WORKERS => return variables::workers(),
        variables::ASSIGN => return variables::assign(),
        ASKED => return check_equal(Platform::host().build()?.name(), "host"),
        _ => {}
    }
    let platform = Platform::detect()?;
    check_equal(platform.name(), "host")
}

/// Returns a subscriber that prints the log's lines up to a level.
fn prints(level: LevelFilter) -> impl Subscriber {
    // A failure to print is ignored, since the test sees that a line is missing.
    let line = |level: Level, fields: &str| {
        let _closed = writeln!(io::stdout(), "{level}{fields}");
    };
    EachLine { level, line }
}
