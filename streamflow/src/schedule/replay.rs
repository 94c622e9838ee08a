//! The replay of a run's passes: decides whether a pass is replayed, and tells the driver where each node's step begins. See
//! [`driver::replay`](crate::driver::replay).

use std::sync::Arc;

use crate::context::NodeCell;
use crate::driver::replay::{ReplayReport, ReplayRun};
use crate::driver::report_in_drop;
use crate::error::{Error, Result};
use crate::graph::{AnyNode, Graph};
use crate::operator::OnFailure;
use crate::platform::Platform;

/// The environment variable that makes graphs without `#[replay]` be replayed, too.
const VARIABLE: &str = "STREAMFLOW_REPLAY";

/// The replay of a run.
#[derive(Debug)]
pub(super) struct Replay {
    run: ReplayRun,
    platform: Platform,
    /// The cells of the nodes, from which the number of a node's tick is read.
    cells: Box<[Arc<NodeCell>]>,
}

impl Replay {
    /// Creates the replay of a graph's run; `None` if neither the graph's `#[replay]` nor the environment requests one.
    ///
    /// # Errors
    /// [`Error::Variable`] if the environment variable has another value than it may have.
    pub(super) fn of(graph: &mut dyn Graph) -> Result<Option<Self>> {
        let platform = graph.platform().clone();
        let asked = of_environment()?;
        if !graph.__streamflow_replays() && asked == Asked::Not {
            return Ok(None);
        }
        let nodes = graph.nodes();
        let cells = nodes.iter().map(|node| node.cell().clone()).collect();
        let mut run = ReplayRun::new(nodes.iter().map(|node| node.name().into()));
        if asked == Asked::Always {
            run.set_eager();
        }
        if let Some(node) = nodes.into_iter().find_map(recovering) {
            run.switch_off(format!(
                "node `{node}` has `#[on_failure]`: it would go on after a call that was held back and failed"
            ));
        }
        if platform.driver().observer().replays().is_none() {
            run.switch_off(
                "the platform's driver doesn't replay; wrap it by `streamflow::driver::replay::Replaying`",
            );
        }
        Ok(Some(Self { run, platform, cells }))
    }

    /// Switches the replay off because workers run the nodes, so that no single thread makes all driver calls of a pass.
    pub(super) fn refuse_workers(&mut self) {
        self.run.switch_off(
            "workers run the graph; only passes of the one-thread scheduler are replayed",
        );
        report_in_drop("ending the replay of a run", self.leave());
    }

    /// Begins a pass. Returns whether the pass is replayed.
    pub(super) fn begin(&mut self) -> bool {
        let Self { run, platform, .. } = self;
        !run.is_off()
            && platform.driver().observer().replays().is_some_and(|driver| driver.begin(run))
    }

    /// Whether the driver has a sticky error, so that no work can be queued any more.
    pub(super) fn is_lost(&self) -> bool {
        self.platform.driver().sticky_error().is_some()
    }

    /// Tells the driver that a node's step begins.
    pub(super) fn at(&self, node: usize) {
        if self.run.is_in_pass()
            && let Some(driver) = self.platform.driver().observer().replays()
        {
            let tick = self.cells.get(node).map_or(0, |cell| cell.word().ticks());
            driver.at(node as u32, tick);
        }
    }

    /// Ends a pass, after its last step or after an error.
    ///
    /// # Errors
    /// The first error of a driver call that was held back until now.
    pub(super) fn end(&mut self) -> Result<()> {
        let Self { run, platform, .. } = self;
        match platform.driver().observer().replays() {
            Some(driver) => Ok(driver.end(run)?),
            None => Ok(()),
        }
    }

    /// Ends the replay after the last pass.
    ///
    /// # Errors
    /// The errors of [`end`](Self::end), and the errors of querying whether work is complete.
    pub(super) fn leave(&mut self) -> Result<()> {
        let Self { run, platform, .. } = self;
        match platform.driver().observer().replays() {
            Some(driver) => Ok(driver.leave(run)?),
            None => Ok(()),
        }
    }

    pub(super) fn report(&self) -> ReplayReport {
        self.run.report()
    }
}

impl Drop for Replay {
    fn drop(&mut self) {
        report_in_drop("ending the replay of a run", self.leave());
    }
}

/// Returns the name of a node that goes on after failures; `None` for a node that does not.
fn recovering(node: &mut dyn AnyNode) -> Option<String> {
    let status = node.status();
    (status.on_failure != OnFailure::Stop).then_some(status.name)
}

/// What the environment variable sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asked {
    Not,
    /// Each graph is replayed as if it had `#[replay]`.
    Each,
    /// Each segment becomes a CUDA graph when it occurs for the first time. Tests set this, since their runs are short.
    Always,
}

fn of_environment() -> Result<Asked> {
    let Some(value) = std::env::var_os(VARIABLE) else { return Ok(Asked::Not) };
    match value.to_str() {
        Some("1") => Ok(Asked::Each),
        Some("0") => Ok(Asked::Not),
        Some("always") => Ok(Asked::Always),
        _ => Err(Error::Variable {
            name: VARIABLE,
            value: value.to_string_lossy().into_owned(),
            expected: "say 1, to replay each graph; 0, for those that ask for it; or always, to make a graph of each \
                       pass, for tests",
        }),
    }
}
