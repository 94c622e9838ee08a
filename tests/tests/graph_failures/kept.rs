//! Checks that the error of a hook arrives at the caller of `run` with its type and its causes.

use std::error::Error as StdError;
use std::fmt;
use std::io;
use std::num::ParseIntError;

use streamflow::prelude::*;
use streamflow::testing::{Explorer, OperatorHarness};
use streamflow_tests::{Failed, Suite, check, check_error, check_text};

pub(crate) fn add(suite: Suite) -> Suite {
    suite
        .both("the_error_of_a_hook_keeps_its_type_and_its_causes", type_and_causes)
        .both("each_of_two_errors_keeps_its_type", two_errors)
        .both("a_panic_is_an_error_of_streamflow_in_the_failure", panics)
        .both("a_constructor_in_a_graph_may_fail_with_any_error", constructors)
        .both("a_text_and_a_boxed_error_are_failures", texts)
        .both("run_neither_prints_nor_drops_an_error_that_panics", errors_that_panic)
        .plain("an_explored_test_may_fail_with_any_error", explored)
}

/// An error type of the user's, with a cause.
#[derive(Debug)]
struct Torn {
    page: u64,
    cause: io::Error,
}

impl Torn {
    fn new(page: u64) -> Self {
        Self { page, cause: io::Error::new(io::ErrorKind::InvalidData, "a jam") }
    }
}

impl fmt::Display for Torn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "page {} is torn", self.page)
    }
}

impl StdError for Torn {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        Some(&self.cause)
    }
}

/// An error that panics when it is printed or dropped, until its owner disarms it.
#[derive(Debug)]
struct Explosive(bool);

impl fmt::Display for Explosive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        assert!(!self.0, "printed");
        f.write_str("disarmed")
    }
}

impl StdError for Explosive {}

impl Drop for Explosive {
    fn drop(&mut self) {
        assert!(!self.0, "dropped");
    }
}

fn tears(page: u64) -> Result<(), Torn> {
    Err(Torn::new(page))
}

/// How a hook fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum How {
    Tears,
    Counts,
    Text,
    Boxed,
    Panics,
    Explodes,
}

/// An operator that fails in the given hooks.
#[operator]
struct Printer {
    #[output]
    page: u64,
    faults: Vec<(&'static str, How)>,
}

impl Printer {
    #[allow(clippy::panic, reason = "the test is about panics")]
    fn fail_in(&self, hook: &str, page: u64) -> Result<()> {
        for (_, how) in self.faults.iter().filter(|(at, _)| *at == hook) {
            match how {
                How::Tears => tears(page)?,
                How::Counts => drop("seven".parse::<u64>()?),
                How::Text => return Err(Failure::msg("out of paper")),
                How::Boxed => return Err(Failure::from_boxed("out of toner".into())),
                How::Panics => panic!("out of ink"),
                How::Explodes => Err(Explosive(true))?,
            }
        }
        Ok(())
    }
}

impl Compute for Printer {
    fn start(&mut self, _: PrinterStreams<'_>, _: &ExecutionContext) -> Result<()> {
        self.fail_in("start", 0)
    }

    fn compute(&mut self, io: PrinterIo<'_>, cx: &ExecutionContext) -> Result<()> {
        if cx.tick() == 2 {
            self.fail_in("compute", cx.tick())?;
        }
        io.page.emit(cx.tick())
    }

    fn stop(&mut self, cx: &ExecutionContext) -> Result<()> {
        self.fail_in("stop", cx.tick())
    }
}

#[operator]
struct Tray {
    #[input]
    page: u64,
}

impl Compute for Tray {
    fn compute(&mut self, io: TrayIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.page.discard();
        Ok(())
    }
}

graph! {
    struct Office(faults: Vec<(&'static str, How)>) {
        #[when(count(5))]
        let printer: Printer = Printer::new(faults);
        let tray: Tray = Tray::new();
        printer.page >> tray.page;
    }
}

fn run_with(platform: &Platform, faults: &[(&'static str, How)]) -> Result<Error, Failed> {
    match Office::new(platform, faults.to_vec())?.run() {
        Err(error) => Ok(error),
        Ok(report) => Err(Failed::msg(format!("no error, but: {report}"))),
    }
}

/// Returns the failure that a hook of `printer` has returned, from the error of the run.
fn cause_in<'e>(error: &'e Error, wanted: &str) -> Result<&'e Failure, Failed> {
    match error {
        Error::Operator { node, hook, cause, .. } if node == "printer" && *hook == wanted => {
            Ok(cause)
        }
        other => Err(Failed::msg(format!("another error: {other}"))),
    }
}

fn type_and_causes(platform: &Platform) -> Result<(), Failed> {
    for (hook, page) in [("start", 0), ("compute", 2), ("stop", 5)] {
        let error = run_with(platform, &[(hook, How::Tears)])?;
        let text =
            format!("operator `printer` failed in `{hook}`, tick {page}: page {page} is torn");
        check(error.to_string() == text, || error.to_string())?;
        let cause = cause_in(&error, hook)?;
        check(cause.downcast_ref::<Torn>().is_some_and(|torn| torn.page == page), || text.clone())?;
        check(cause.downcast_ref::<io::Error>().is_none(), || text.clone())?;
        // The chain is the error itself and its cause, and ends there.
        let first = error.source().and_then(|error| error.downcast_ref::<Torn>());
        let second = first.and_then(StdError::source);
        check(second.is_some_and(|error| error.to_string() == "a jam"), || text.clone())?;
        check(second.and_then(StdError::source).is_none(), || text.clone())?;
        let kind = error.find_cause::<io::Error>().map(io::Error::kind);
        check(kind == Some(io::ErrorKind::InvalidData), || text.clone())?;
        check(error.find_cause::<ParseIntError>().is_none(), || text)?;
    }
    let mut harness = OperatorHarness::new(platform, Printer::new(vec![("start", How::Counts)]))?;
    let started = harness.tick();
    check(started.is_err_and(|error| error.find_cause::<ParseIntError>().is_some()), || {
        "the harness has lost the type".into()
    })
}

fn two_errors(platform: &Platform) -> Result<(), Failed> {
    let error = run_with(platform, &[("compute", How::Tears), ("stop", How::Counts)])?;
    let Error::Run { cause, followed } = &error else { return Err(Failed::msg(error)) };
    check(cause_in(cause, "compute")?.downcast_ref::<Torn>().is_some(), || cause.to_string())?;
    let [later] = &**followed else { return Err(Failed::msg(error)) };
    check(cause_in(later, "stop")?.downcast_ref::<ParseIntError>().is_some(), || {
        later.to_string()
    })?;
    // `source` of an error with several errors returns the first of them.
    let first = error.source().map(ToString::to_string);
    check(first == Some(cause.to_string()), || error.to_string())?;
    check(error.find_cause::<io::Error>().is_some(), || error.to_string())
}

fn panics(platform: &Platform) -> Result<(), Failed> {
    for hook in ["start", "compute", "stop"] {
        let error = run_with(platform, &[(hook, How::Panics)])?;
        let expected = Error::Panicked { message: "out of ink".into() };
        check(cause_in(&error, hook)?.downcast_ref() == Some(&expected), || error.to_string())?;
    }
    Ok(())
}

fn texts(platform: &Platform) -> Result<(), Failed> {
    for (how, text) in [(How::Text, "out of paper"), (How::Boxed, "out of toner")] {
        let error = run_with(platform, &[("compute", how)])?;
        check(cause_in(&error, "compute")?.to_string() == text, || error.to_string())?;
        check(error.to_string().ends_with(text), || error.to_string())?;
        check(format!("{error:?}") == error.to_string(), || format!("{error:?}"))?;
    }
    Ok(())
}

fn pages(text: &str) -> Result<Printer, ParseIntError> {
    let _pages: u64 = text.parse()?;
    Ok(Printer::new(Vec::new()))
}

graph! {
    struct Branch(pages_text: &'static str) {
        #[when(count(1))]
        let printer: Printer = pages(pages_text)?;
        printer.page >> _;
    }
}

fn constructors(platform: &Platform) -> Result<(), Failed> {
    Branch::new(platform, "7")?.run()?;
    let made = Branch::new(platform, "seven").map(drop);
    let found = made.as_ref().err().and_then(|error| error.find_cause::<ParseIntError>()).cloned();
    check(found == "seven".parse::<u64>().err(), || format!("{found:?}"))?;
    let text = check_error("new", made, |error| matches!(error, Error::Other(_)))?;
    check_text(&text, &["invalid digit"])
}

fn errors_that_panic(platform: &Platform) -> Result<(), Failed> {
    for hook in ["start", "compute", "stop"] {
        let error = run_with(platform, &[(hook, How::Explodes), ("stop", How::Panics)])?;
        let found = error.find_cause::<Explosive>().is_some();
        // Dropping this error would panic.
        std::mem::forget(error);
        check(found, || format!("{hook}: another error"))?;
    }
    Ok(())
}

fn explored() -> Result<(), Failed> {
    let found = Explorer::new().seeds(3).run(|_| Ok(tears(7)?))?;
    let Some(failing) = &found.failing else { return Err(Failed::msg(found)) };
    let torn = failing.cause.find_cause::<Torn>().map(|torn| torn.page);
    check(torn == Some(7), || failing.to_string())
}
