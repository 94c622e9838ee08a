//! A graph that runs on a thread of its own.

use std::any::Any;
use std::fmt;
use std::ops::Deref;
use std::time::Duration;

#[cfg(feature = "futures")]
use super::ended::Ended;
use super::handle::RunHandle;
use super::owner::RunOwner;
use super::report::Report;
use super::shared::RunStatus;
#[allow(unused_imports, reason = "for the documentation")]
use crate::error::Error;
use crate::error::Result;
use crate::graph::Graph;

/// A graph that runs on a thread of its own: `graph.spawn()?` returns it.
///
/// ```
/// # use streamflow::prelude::*;
/// # #[operator] struct Camera { #[output] frame: u64 }
/// # impl Compute for Camera {
/// #     fn compute(&mut self, io: CameraIo<'_>, cx: &ExecutionContext) -> Result<()> { io.frame.emit(cx.tick()) }
/// # }
/// # graph! { struct Recording() { let camera: Camera = Camera::new(); camera.frame >> _; } }
/// # fn main() -> Result<()> {
/// # let platform = Platform::host().build()?;
/// let running = Recording::new(&platform)?.spawn()?;
/// println!("{}", running.status());
/// running.stop();
/// let report = running.join()?;
/// println!("{report}");
/// # Ok(())
/// # }
/// ```
///
/// Dropping it stops the run and waits for its end: for the hook that runs, for the `stop` hooks, and for the work that
/// the graph has queued on its devices. An error of the run is then only logged.
#[must_use = "dropping it stops the run"]
pub struct Running<G: Graph> {
    owner: RunOwner,
    params: G::Handle,
}

/// The parameters of the graph, as [`Graph::handle`] returns them: `running.cfar().set_threshold(0.5)?`. A node with the
/// name of a method of [`Running`], as `stop`, is found by `running.params()`.
impl<G: Graph> Deref for Running<G> {
    type Target = G::Handle;

    fn deref(&self) -> &G::Handle {
        &self.params
    }
}

/// Runs a graph on a thread of its own: `graph.spawn()?`. Every graph has it.
pub trait Spawn: Graph + Sized {
    /// Runs the graph on a thread of its own, named like the graph. A run that `tick` has begun goes on there.
    ///
    /// In a test that [`explore`](crate::testing::explore) runs, the thread takes turns with the others.
    ///
    /// # Errors
    /// [`Error::NoThread`]. An error of the run itself is returned by [`Running::join`].
    #[track_caller]
    fn spawn(self) -> Result<Running<Self>>
    where
        Self: Send + 'static,
    {
        let params = Graph::handle(&self);
        Ok(Running { owner: RunOwner::spawn(Box::new(self))?, params })
    }
}

impl<G: Graph> Spawn for G {}

/// A graph that is only borrowed, as by `graph.workers(4)?`. It has a `spawn` that no program can call: the compiler's
/// error for it says what to write.
#[doc(hidden)]
pub trait SpawnBorrowed: Sized {
    /// The graph.
    type Graph: Graph;

    /// Never called.
    ///
    /// # Errors
    /// None.
    fn spawn(self) -> Result<Running<Self::Graph>>
    where
        Self: OwnedGraph<Self::Graph>,
    {
        self.spawn_owned()
    }
}

impl<G: Graph> SpawnBorrowed for &mut G {
    type Graph = G;
}

/// A graph that is not borrowed. The trait has no implementation, since owned graphs have [`Spawn`].
#[diagnostic::on_unimplemented(
    message = "`spawn` takes the graph itself, and `{Self}` only borrows it",
    label = "the graph is borrowed here",
    note = "`workers` returns the graph that it was called for, borrowed: keep the graph in a variable, and write `graph.workers(4)?;`, then `graph.spawn()?`"
)]
#[doc(hidden)]
pub trait OwnedGraph<G: Graph> {
    /// Never called.
    ///
    /// # Errors
    /// None.
    fn spawn_owned(self) -> Result<Running<G>>;
}

impl<G: Graph + 'static> Running<G> {
    /// The handle that sets the parameters of the graph's operators, the same as `graph.params()`.
    pub fn params(&self) -> &G::Handle {
        &self.params
    }

    /// A handle for other threads. The handle can be cloned.
    pub fn handle(&self) -> RunHandle {
        self.owner.handle.clone()
    }

    /// The same as [`RunHandle::stop`].
    pub fn stop(&self) {
        self.owner.handle.stop();
    }

    /// The same as [`RunHandle::pause`].
    ///
    /// # Errors
    /// [`Error::RunOver`] if the run is over or is being stopped.
    pub fn pause(&self) -> Result<()> {
        self.owner.handle.pause()
    }

    /// The same as [`RunHandle::resume`].
    ///
    /// # Errors
    /// [`Error::RunOver`] if the run is over or is being stopped.
    pub fn resume(&self) -> Result<()> {
        self.owner.handle.resume()
    }

    /// The same as [`RunHandle::status`].
    pub fn status(&self) -> RunStatus {
        self.owner.handle.status()
    }

    /// The same as [`RunHandle::report`].
    ///
    /// # Errors
    /// [`Error::StillRunning`] if a hook does not return within a second.
    pub fn report(&self) -> Result<Report> {
        self.owner.handle.report()
    }

    /// The same as [`RunHandle::is_over`].
    pub fn is_over(&self) -> bool {
        self.owner.handle.is_over()
    }

    /// Stops the run at the first signal that asks the process to end, as [`stop`](Self::stop) does: the tick that runs
    /// finishes, and the `stop` hooks are called. The signals are
    ///
    /// - SIGINT: Ctrl-C;
    /// - SIGTERM: `kill`, a service manager, the end of a container;
    /// - SIGHUP: the terminal is closed.
    ///
    /// Every run for which this or [`stop_on_ctrl_c`](Self::stop_on_ctrl_c) was called is stopped.
    ///
    /// Handlers of the program are called as well. A signal that stops no run, as a second signal or a first one after
    /// the end of the run, has the effect that it had before the process first called this method. If the program had a
    /// handler for the signal then, that handler is called (on Linux; elsewhere the library does not know of the
    /// handler). Otherwise the process ends at once, without `stop` hooks, and its exit code is 128 plus the number of
    /// the signal: 130, 143 or 129. So a program should set its handlers before the first call: a later handler takes
    /// the signal away from the library, or, if it is set by `signal-hook`, does not keep the process from ending. A
    /// signal that the program ignores, as SIGHUP after `nohup` and SIGINT in programs that a script starts with `&`,
    /// remains ignored, and the call logs that (on Linux; elsewhere such a signal stops the run). A system without
    /// these signals has Ctrl-C alone.
    ///
    /// # Errors
    /// [`Error::CtrlC`] if the system refuses it. The signals of an earlier call still stop the run then.
    #[cfg(feature = "ctrlc")]
    pub fn stop_on_signals(&self) -> Result<()> {
        super::signals::stop(&self.owner.handle.shared, &super::signals::ALL)
    }

    /// The same as [`stop_on_signals`](Self::stop_on_signals), for SIGINT alone: SIGTERM and SIGHUP end the process without
    /// `stop` hooks. If `stop_on_signals` was called for another run of the process, these two signals stop this run as well.
    ///
    /// # Errors
    /// [`Error::CtrlC`] if the system refuses it.
    #[cfg(feature = "ctrlc")]
    pub fn stop_on_ctrl_c(&self) -> Result<()> {
        super::signals::stop(&self.owner.handle.shared, &[super::signals::INTERRUPT])
    }

    /// A future that is ready when the run is over. [`join`](Self::join) then returns its result at once:
    /// `running.ended().await; running.join()?;`. Dropping the future changes nothing for the run.
    ///
    /// The thread of the run wakes the task, as its last act. An executor that polls inside of the wake-up polls on that thread,
    /// where `join` returns [`Error::StillRunning`], as in an operator: a task that joins must be polled on another thread.
    #[cfg(feature = "futures")]
    pub fn ended(&mut self) -> impl Future<Output = ()> + Send + Unpin {
        Ended::new(&self.owner.handle.shared)
    }

    /// Waits for the end of the run, and returns its result. The graph is dropped.
    ///
    /// # Errors
    /// The errors of the graph's method `run`; [`Error::RunOver`] if [`join_timeout`](Self::join_timeout) has returned the
    /// result; [`Error::StillRunning`] if an operator of the graph calls this.
    pub fn join(mut self) -> Result<Report> {
        let done = self.owner.wait();
        let dropped = self.owner.drop_graph();
        done.and_then(|report| dropped.map(|()| report))
    }

    /// Waits for the end of the run, and returns the graph, to run it again or to read its operators, and the result.
    ///
    /// # Errors
    /// [`Error::StillRunning`] if an operator of the graph calls this: then there is no graph to return. The result has
    /// the same errors as the result of [`join`](Self::join).
    pub fn join_with_graph(mut self) -> Result<(G, Result<Report>)> {
        let done = self.owner.wait();
        let graph: Option<Box<dyn Any>> = self.owner.take_graph().map(|graph| graph as _);
        match graph.and_then(|graph| graph.downcast::<G>().ok()) {
            Some(graph) => Ok((*graph, done)),
            None => Err(done.err().unwrap_or_else(|| self.owner.handle.shared.still_running())),
        }
    }

    /// Waits for the end of the run, at most for this (real) time, and returns its result. The result is returned once;
    /// afterwards [`join_with_graph`](Self::join_with_graph) still returns the graph.
    ///
    /// # Errors
    /// [`Error::StillRunning`] if the run has not ended, with the hook that does not return; the run goes on. Otherwise
    /// the errors of [`join`](Self::join).
    pub fn join_timeout(&mut self, at_most: Duration) -> Result<Report> {
        self.owner.wait_at_most(at_most)
    }
}

impl<G: Graph> fmt::Debug for Running<G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Running").field("handle", &self.owner.handle).finish_non_exhaustive()
    }
}
