//! `stop_on_ctrl_c`, in processes of their own.

use std::env;
use std::process::{self, Command, Stdio};
use std::thread;

use streamflow::prelude::*;
use streamflow::schedule::{End, StoppedBy};
use streamflow_tests::stereo::Counter;
use streamflow_tests::{Failed, Suite, check, check_equal, check_error, check_text, child};

use super::gate::{Gated, Latch, gate};
use super::signals::ignores_interrupts;

const FIRST: &str = "first Ctrl-C";
const SECOND: &str = "second Ctrl-C";
const IGNORED: &str = "ignored";
const OTHER_HANDLER: &str = "another handler";

/// The variable that `child` reads.
const ROLE: &str = "STREAMFLOW_TEST_CHILD";

pub(crate) fn add(suite: Suite) -> Suite {
    suite
        .optional("the_first_ctrl_c_stops_every_run_that_asked", "", || {
            unix(|| child::run(FIRST, &[]))
        })
        .optional("the_second_ctrl_c_ends_the_process", "", || unix(second))
        .optional("another_handler_of_ctrl_c_is_an_error_with_the_remedy", "", || {
            unix(|| child::run(OTHER_HANDLER, &[]))
        })
        .optional("a_run_goes_on_where_ctrl_c_is_ignored", "", || {
            linux(|| {
                let me = env::current_exe()?;
                // The shell hands an ignored signal down.
                let ended = Command::new("sh")
                    .args(["-c", "trap '' INT; exec \"$0\"", &me.to_string_lossy()])
                    .env(ROLE, IGNORED)
                    .stdout(Stdio::null())
                    .status()?;
                check_equal(ended.code(), Some(0))
            })
        })
}

/// Runs a test where signals can be sent, and arrive.
fn unix(test: impl FnOnce() -> Result<(), Failed>) -> Result<Option<String>, Failed> {
    if cfg!(not(unix)) {
        return Ok(Some("there are no signals".into()));
    }
    if ignores_interrupts() {
        return Ok(Some("SIGINT is ignored, as in all that a script starts with `&`".into()));
    }
    test().map(|()| None)
}

fn linux(test: impl FnOnce() -> Result<(), Failed>) -> Result<Option<String>, Failed> {
    if cfg!(target_os = "linux") {
        return test().map(|()| None);
    }
    Ok(Some("the library knows on Linux alone that a signal is ignored".into()))
}

/// Sends SIGINT to this process.
fn interrupt() -> Result<(), Failed> {
    let sent = Command::new("kill").args(["-INT", &process::id().to_string()]).status()?;
    check(sent.success(), || format!("kill: {sent}"))
}

pub(crate) fn in_child(role: &str) -> Result<(), Failed> {
    match role {
        FIRST => first(),
        SECOND => hangs(),
        IGNORED => ignored(),
        _ => other_handler(),
    }
}

graph! {
    struct Endless {
        let numbers: Counter = Counter::new();
        numbers.number >> _;
    }
}

graph! {
    struct GatedNumbers(latch: Latch) {
        let gated: Gated = Gated::new(latch);
        gated.number >> _;
    }
}

fn first() -> Result<(), Failed> {
    let platform = Platform::host().build()?;
    let [one, two, other] = [(); 3].map(|()| Endless::new(&platform).and_then(Endless::spawn));
    let (one, two, other) = (one?, two?, other?);
    one.stop_on_ctrl_c()?;
    two.stop_on_ctrl_c()?;
    two.stop_on_ctrl_c()?;
    interrupt()?;
    for running in [one, two] {
        let report = running.join()?;
        check_equal(report.end.clone(), End::Stopped { by: StoppedBy::CtrlC })?;
        check_text(&report.to_string(), &["the run ended: Ctrl-C stopped it"])?;
    }
    check(!other.is_over(), || "a run was stopped that had not asked".into())?;
    // Another run of the same process gets the next one.
    other.stop_on_ctrl_c()?;
    interrupt()?;
    check_equal(other.join()?.end, End::Stopped { by: StoppedBy::CtrlC })
}

fn ignored() -> Result<(), Failed> {
    check(ignores_interrupts(), || "the test is wrong: SIGINT arrives".into())?;
    let platform = Platform::host().build()?;
    let running = Endless::new(&platform)?.spawn()?;
    running.stop_on_ctrl_c()?;
    interrupt()?;
    running.stop_on_ctrl_c()?;
    check(!running.is_over(), || "an ignored signal stopped the run".into())?;
    running.stop();
    let stopped_by = |end: &End| matches!(end, End::Stopped { by } if *by != StoppedBy::CtrlC);
    let end = running.join()?.end;
    check(stopped_by(&end), || format!("{end:?}"))
}

/// A hook does not return.
fn hangs() -> Result<(), Failed> {
    let platform = Platform::host().build()?;
    let (gate, latch) = gate();
    let running = GatedNumbers::new(&platform, latch)?.spawn()?;
    let gate = gate;
    gate.pass("start", 0)?;
    gate.wait("compute", 0)?;
    running.stop_on_ctrl_c()?;
    interrupt()?;
    while running.pause().is_ok() {
        thread::yield_now();
    }
    interrupt()?;
    drop(running);
    Err(Failure::msg("the process goes on"))
}

fn second() -> Result<(), Failed> {
    let ended = Command::new(env::current_exe()?)
        .env(ROLE, SECOND)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()?;
    check_equal(ended.code(), Some(130))
}

fn other_handler() -> Result<(), Failed> {
    ctrlc::set_handler(|| ()).map_err(Failure::msg)?;
    let platform = Platform::host().build()?;
    let running = Endless::new(&platform)?.spawn()?;
    let is_right = |error: &Error| matches!(error, Error::CtrlC { .. });
    let text = check_error("two handlers", running.stop_on_ctrl_c(), is_right)?;
    check_text(&text, &["a handler of its own", "call `stop` of a `handle()` of this run there"])?;
    running.stop();
    check_equal(running.join()?.end, End::Stopped { by: StoppedBy::Handle })
}
