//! Environment variables with meaningless values. A process reads each variable once, so each test is a separate
//! process.

use streamflow::prelude::*;
use streamflow_tests::{Failed, Suite, check_error, child};

pub(crate) const WORKERS: &str = "workers that are no number";
pub(crate) const ASSIGN: &str = "an assignment that is none";

pub(crate) fn add(suite: Suite) -> Suite {
    suite
        .plain("a_variable_that_is_no_number_of_workers_is_an_error", || {
            child::run("errors", WORKERS, &[("STREAMFLOW_WORKERS", "two")])
        })
        .plain("a_variable_that_is_no_assignment_of_streams_is_an_error", || {
            child::run("errors", ASSIGN, &[("STREAMFLOW_ASSIGN", "planned:0")])
        })
}

#[operator]
struct Numbers {
    #[output]
    number: u64,
}

impl Compute for Numbers {
    fn compute(&mut self, io: NumbersIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.number.emit(cx.tick())
    }
}

graph! {
    struct Two() {
        #[when(count(2))]
        let numbers: Numbers = Numbers::new();
        numbers.number >> _;
    }
}

pub(crate) fn workers() -> Result<(), Failed> {
    let run = Two::new(&Platform::host().build()?).and_then(|mut graph| graph.run());
    let is_it = |error: &Error| matches!(error, Error::WorkersVariable { value } if value == "two");
    check_error("no number of workers", run, is_it).map(drop)
}

pub(crate) fn assign() -> Result<(), Failed> {
    let run = Two::new(&Platform::host().build()?).and_then(|mut graph| graph.run());
    let is_it =
        |error: &Error| matches!(error, Error::AssignVariable { value } if value == "planned:0");
    check_error("no assignment of streams", run, is_it).map(drop)
}
