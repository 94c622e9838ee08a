//! Hooks that fail or panic, in a graph that runs on a thread of its own.
#![allow(clippy::panic, reason = "panics are what is tested")]

use std::time::Duration;

use streamflow::prelude::*;
use streamflow::schedule::{Activity, End};
use streamflow_tests::stereo::Counter;
use streamflow_tests::{Failed, Suite, check_equal, check_error, check_text};

use super::both::Both;

pub(crate) fn add(suite: Suite) -> Suite {
    suite
        .both("join_returns_the_error_or_panic_of_each_hook", each_hook)
        .both("a_graph_that_panics_in_drop_is_an_error_of_join", panic_in_drop)
        .both("a_run_that_has_stalled_is_an_error_of_join", stalls)
}

/// Which hook fails, and whether it panics.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Fault {
    hook: &'static str,
    panics: bool,
}

impl Fault {
    fn strike(self, hook: &str) -> Result<()> {
        match self {
            Self { panics: true, .. } if self.hook == hook => std::panic::panic_any("as told"),
            _ if self.hook == hook => Err(Failure::msg("as told")),
            _ => Ok(()),
        }
    }
}

/// An operator that fails in a hook, or when it is dropped.
#[operator]
struct Faulty {
    #[input]
    number: u64,
    fault: Fault,
}

impl Compute for Faulty {
    fn start(&mut self, _: FaultyStreams<'_>, _: &ExecutionContext) -> Result<()> {
        self.fault.strike("start")
    }

    fn compute(&mut self, io: FaultyIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.number.discard();
        self.fault.strike("compute")
    }

    fn stop(&mut self, _: &ExecutionContext) -> Result<()> {
        self.fault.strike("stop")
    }
}

impl Drop for Faulty {
    fn drop(&mut self) {
        let _ = self.fault.strike("drop");
    }
}

graph! {
    struct Faults(fault: Fault) {
        #[when(count(3))] let numbers: Counter = Counter::new();
        let faulty: Faulty = Faulty::new(fault);
        numbers.number >> faulty.number;
    }
}

fn each_hook(platform: &Platform) -> Result<(), Failed> {
    for hook in ["start", "compute", "stop"] {
        for panics in [false, true] {
            let running = Faults::new(platform, Fault { hook, panics })?.spawn()?;
            let handle = running.handle();
            let text = check_error(hook, running.join(), |_| true)?;
            check_text(&text, &["`faulty`", &format!("`{hook}`"), "as told"])?;
            check_equal(handle.status().nodes[1].activity, Activity::Failed)?;
            let report = handle.report()?;
            check_equal(&report.end, &End::Failed { error: text.clone() })?;
            check_text(&report.to_string(), &[&format!("the run ended: by an error: {text}")])?;
            let faulty = &report.nodes[1];
            let expected = (hook == "compute").then(|| text.clone());
            check_equal(
                (faulty.failures > 0, &faulty.first_failure),
                (expected.is_some(), &expected),
            )?;
            // The graph can be run again, and fails in the same way.
            let mut running = Faults::new(platform, Fault { hook, panics })?.spawn()?;
            let done = running.join_timeout(Duration::from_secs(60));
            check_equal(done.is_err(), true)?;
            let (mut graph, _) = running.join_with_graph()?;
            check_equal(check_error(hook, graph.run(), |_| true)?, text)?;
        }
    }
    Ok(())
}

fn panic_in_drop(platform: &Platform) -> Result<(), Failed> {
    let fault = Fault { hook: "drop", panics: true };
    let running = Faults::new(platform, fault)?.spawn()?;
    let is_right = |error: &Error| matches!(error, Error::Panicked { .. });
    let text = check_error("a drop", running.join(), is_right)?;
    check_text(&text, &["as told"])?;
    // Dropping the run returns no error, and no panic leaves the drop.
    drop(Faults::new(platform, fault)?.spawn()?);
    Ok(())
}

graph! {
    struct Unequal {
        #[when(count(5))] let a: Counter = Counter::new();
        #[when(count(2))] let b: Counter = Counter::new();
        let both: Both = Both::new();
        a.number >> both.a;
        b.number >> both.b;
    }
}

fn stalls(platform: &Platform) -> Result<(), Failed> {
    let running = Unequal::new(platform)?.spawn()?;
    let is_right = |error: &Error| matches!(error, Error::Stalled { .. });
    check_error("unequal counts", running.join(), is_right).map(drop)
}
