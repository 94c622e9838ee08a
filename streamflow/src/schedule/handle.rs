//! The handle of a run, for any thread.

use std::fmt;
use std::sync::Arc;

use super::report::Report;
use super::shared::{RunStatus, Shared};
use crate::context::StopSource;
use crate::error::Result;

/// Stops, pauses and observes a run on a thread of its own. Clones are handles of the same run. Dropping one changes
/// nothing: the [`Running`](super::Running) alone ends the run.
#[derive(Clone)]
pub struct RunHandle {
    pub(super) shared: Arc<Shared>,
}

impl RunHandle {
    /// Ends the run: the tick that runs finishes, then the `stop` hooks are called. Messages that wait are dropped, and
    /// the report counts them. This returns at once, and does nothing if the run is over or is being stopped.
    pub fn stop(&self) {
        self.shared.control.stop(StopSource::Handle);
    }

    /// Pauses the run: the tick that runs finishes, and no other begins before [`resume`](Self::resume). Work that is
    /// queued on devices goes on, and so does time: a timer that is due meanwhile is late. A second call changes nothing.
    ///
    /// The call returns at once, so a tick may still run. [`report`](Self::report) after it waits for the end of that
    /// tick: when it returns, the pause has taken effect.
    ///
    /// # Errors
    /// [`Error::RunOver`](crate::Error::RunOver) if the run is over or is being stopped.
    pub fn pause(&self) -> Result<()> {
        self.changed("pause", self.shared.control.pause())
    }

    /// Ends a pause; does nothing if there is none.
    ///
    /// # Errors
    /// [`Error::RunOver`](crate::Error::RunOver) if the run is over or is being stopped.
    pub fn resume(&self) -> Result<()> {
        self.changed("resume", self.shared.control.resume())
    }

    fn changed(&self, call: &'static str, goes_on: bool) -> Result<()> {
        if goes_on {
            return Ok(());
        }
        let problem = "has ended, or was told to stop; spawn the graph again";
        Err(self.shared.too_late(call, problem))
    }

    /// The present state of each node. The method can be called at any time, and also shows a hook that does not return.
    pub fn status(&self) -> RunStatus {
        self.shared.status()
    }

    /// The report of the run so far, and after its end the last report. A failed run has a report, too, although
    /// [`join`](super::Running::join) returns its error. The run makes it between two ticks.
    ///
    /// With [workers](super::Workers) the report is no snapshot: the counts of each node are read between two of its ticks,
    /// while other nodes run. So the counts of two nodes may be of different moments. In a [pause](Self::pause) the counts of
    /// all nodes are read at once, when the last tick is over: then they fit together.
    ///
    /// # Errors
    /// [`Error::StillRunning`](crate::Error::StillRunning), with the node, if a hook does not return within a second.
    pub fn report(&self) -> Result<Report> {
        self.shared.report()
    }

    /// Whether the run has ended, with the `stop` hooks.
    pub fn is_over(&self) -> bool {
        self.shared.is_over()
    }
}

impl fmt::Debug for RunHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let phase = self.status().phase;
        f.debug_struct("RunHandle")
            .field("graph", &self.shared.graph)
            .field("phase", &phase)
            .finish()
    }
}
