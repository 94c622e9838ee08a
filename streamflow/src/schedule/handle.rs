//! The handle of a run, which any thread may use.

use std::fmt;
use std::sync::Arc;

use super::report::Report;
use super::shared::{RunStatus, Shared};
use crate::context::StopSource;
use crate::error::Result;

/// Stops, pauses and observes a run that has a thread of its own. A clone is a handle of the same run. Dropping a handle does not
/// end the run; only dropping the [`Running`](super::Running) does.
#[derive(Clone)]
pub struct RunHandle {
    pub(super) shared: Arc<Shared>,
}

impl RunHandle {
    /// Ends the run: the tick that runs now finishes, and then the `stop` hooks are called. Messages in the queues are dropped,
    /// and the report counts them. The method returns at once. It does nothing if the run is over or is being stopped.
    pub fn stop(&self) {
        self.shared.control.stop(StopSource::Handle);
    }

    /// Pauses the run: the tick that runs now finishes, and no other tick begins before [`resume`](Self::resume) is called. Work
    /// that is queued on devices goes on, and time goes on, too: a timer that is due during the pause is late. In a pause,
    /// another call changes nothing.
    ///
    /// The method returns at once, so a tick may still run. Call [`report`](Self::report) to wait for the end of that tick: when
    /// `report` returns, no tick runs.
    ///
    /// # Errors
    /// [`Error::RunOver`](crate::Error::RunOver) if the run is over or is being stopped.
    pub fn pause(&self) -> Result<()> {
        self.changed("pause", self.shared.control.pause())
    }

    /// Ends a pause. Does nothing if the run is not paused.
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

    /// Returns the present state of each node. The method can be called at any time, and also shows a hook that does not return.
    pub fn status(&self) -> RunStatus {
        self.shared.status()
    }

    /// Returns a report of the run so far; after the end of the run, the last report. A failed run has a last report, too,
    /// although [`join`](super::Running::join) returns the run's error. The thread of the run makes a report between two ticks.
    ///
    /// With [workers](super::Workers) the report is no snapshot: the counts of each node are read between two of its ticks, while
    /// other nodes run. So the counts of two nodes may be of different moments. In a [pause](Self::pause), the counts of all
    /// nodes are read at one moment, after the last tick has finished.
    ///
    /// # Errors
    /// [`Error::StillRunning`](crate::Error::StillRunning), with the node, if a hook does not return within a second.
    pub fn report(&self) -> Result<Report> {
        self.shared.report()
    }

    /// Whether the run has ended and its `stop` hooks have returned.
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
