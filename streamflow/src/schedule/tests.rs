//! Tests of a run whose thread sleeps.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod sleeps;

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use super::report::{End, StoppedBy};
use super::run::Run;
use crate::context::{NodeCell, RunControl, StopSource};
use crate::driver::host::HostDriver;
use crate::error::{Error, Result};
use crate::graph::{AnyNode, NodePaths, NodeStatus, Step, Waits};
use crate::platform::Platform;
use crate::time::Timestamp;
use crate::turns::hooks;

/// A node that waits for another thread and never runs.
struct Waiter(Arc<NodeCell>);

impl AnyNode for Waiter {
    fn name(&self) -> &str {
        "waiter"
    }
    fn operator(&self) -> &'static str {
        "Waiter"
    }
    fn step(&mut self, waits: &mut Waits, _: Option<Timestamp>) -> Result<Step, Box<Error>> {
        waits.for_others();
        Ok(Step::Nothing)
    }
    fn has_work(&mut self) -> bool {
        true
    }
    fn set_number(&mut self, _: NonZeroU32) {}
    fn keep_statistics(&mut self, _: Option<&NodePaths>) {}
    fn bind_conditions(&mut self) -> Result<()> {
        Ok(())
    }
    fn cell(&self) -> &Arc<NodeCell> {
        &self.0
    }
    fn limit(&mut self, _: Option<u64>) -> bool {
        true
    }
    fn start(&mut self, _: &Arc<RunControl>) -> Result<()> {
        Ok(())
    }
    fn status(&mut self) -> NodeStatus {
        NodeStatus::idle("waiter", Vec::new(), Vec::new())
    }
    fn stop(&mut self) -> Result<()> {
        Ok(())
    }
    fn synchronize_blocking(&mut self) -> Result<()> {
        Ok(())
    }
}

/// Calls `then` when the calling thread has read the run's command `count` times.
fn after_commands(count: u32, then: impl FnOnce() + 'static) {
    hooks::at("a command was read", move || match count {
        1 => then(),
        _ => after_commands(count - 1, then),
    });
}

/// After its second pass the run's thread sleeps, for up to an hour. So if the wake-up were lost, the test would not end.
#[test]
fn a_command_that_comes_before_the_sleep_ends_it() {
    for count in [1, 2] {
        let driver = Arc::new(HostDriver::builder().build());
        let builder = Platform::builder().spin(Duration::ZERO);
        let platform = builder.driver(driver).unwrap();
        let mut waiter = Waiter(Arc::new(NodeCell::new("waiter", Box::default())));
        let nodes: &mut [&mut dyn AnyNode] = &mut [&mut waiter];
        let run = Run::new(nodes, &platform, "graph", None);
        let control = run.control.clone();
        after_commands(count, move || {
            // The stop replaces the pause. The request for a report has no effect here, since the run has no handle that waits
            // for it.
            assert!(control.pause());
            control.request_report();
            assert!(control.stop(StopSource::Handle));
        });
        let report = run.finish(nodes, None, None).unwrap();
        assert_eq!(report.end, End::Stopped { by: StoppedBy::Handle });
        assert!(hooks::are_done());
    }
}
