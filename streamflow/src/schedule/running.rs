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
/// Dropping a `Running` stops the run and waits for its end: for the hook that runs now, for the `stop` hooks, and for the work
/// that the graph has queued on its devices. If the run ends with an error, the error is then only logged.
#[must_use = "dropping it stops the run"]
pub struct Running<G: Graph> {
    owner: RunOwner,
    params: G::Handle,
}

/// Gives access to the handles of the graph's parameters, as [`Graph::handle`] returns them:
/// `running.cfar().set_threshold(0.5)?`. If a node has the name of a method of [`Running`], as `stop`, call `running.params()` to
/// reach the node's handle.
impl<G: Graph> Deref for Running<G> {
    type Target = G::Handle;

    fn deref(&self) -> &G::Handle {
        &self.params
    }
}

/// Runs a graph on a thread of its own: `graph.spawn()?`. Every graph has this trait.
pub trait Spawn: Graph + Sized {
    /// Runs the graph on a new thread, which has the graph's name. If calls of `tick` have begun a run, the thread continues it.
    ///
    /// In a test that [`explore`](crate::testing::explore) runs, the new thread takes turns with the test's other threads.
    ///
    /// # Errors
    /// [`Error::NoThread`] if the thread can't be made. An error of the run itself is returned by [`Running::join`].
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

/// A graph that is only borrowed, as by `graph.workers(4)?`. Its `spawn` can't be called by any program: the bound [`OwnedGraph`]
/// never holds, and the compiler's error for it says what to write instead.
#[doc(hidden)]
pub trait SpawnBorrowed: Sized {
    /// The type of the borrowed graph.
    type Graph: Graph;

    /// Never called, since no type has [`OwnedGraph`].
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

/// A graph that is not borrowed. No type implements this trait, since graphs that are not borrowed have [`Spawn`].
#[diagnostic::on_unimplemented(
    message = "`spawn` takes the graph itself, and `{Self}` only borrows it",
    label = "the graph is borrowed here",
    note = "`workers` returns the graph that it was called for, borrowed: keep the graph in a variable, and write `graph.workers(4)?;`, then `graph.spawn()?`"
)]
#[doc(hidden)]
pub trait OwnedGraph<G: Graph> {
    /// Never called, since no type implements this trait.
    ///
    /// # Errors
    /// None.
    fn spawn_owned(self) -> Result<Running<G>>;
}

impl<G: Graph + 'static> Running<G> {
    /// Returns the handle that sets the parameters of the graph's operators, the same one as `graph.params()`.
    pub fn params(&self) -> &G::Handle {
        &self.params
    }

    /// Returns a handle of the run that other threads can use. The handle can be cloned.
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

    /// Stops the run, as [`stop`](Self::stop) does, at the first signal that asks the process to end: the tick that runs now
    /// finishes, and the `stop` hooks are called. The signals are
    ///
    /// - SIGINT: sent by Ctrl-C;
    /// - SIGTERM: sent by `kill`, by a service manager, and at the end of a container;
    /// - SIGHUP: sent when the terminal is closed.
    ///
    /// A signal stops every run for which this method or [`stop_on_ctrl_c`](Self::stop_on_ctrl_c) was called.
    ///
    /// Handlers that the program has set are called too. A signal may stop no run, as a second signal, or a first signal after
    /// the end of the run. Such a signal has the effect that it had before the process first called this method. If the program
    /// had a handler for the signal at that time, the handler is called (on Linux; elsewhere the library does not know of the
    /// handler). If it had none, the process ends at once, without `stop` hooks, and its exit code is 128 plus the number of the
    /// signal: 130, 143 or 129. So a program should set its handlers before the first call. A handler that is set later replaces
    /// the library's handler; if it is set by `signal-hook`, it does not keep the process from ending. A signal that the program
    /// ignores, as SIGHUP after `nohup` and SIGINT in programs that a script starts with `&`, remains ignored, and the call logs
    /// that (on Linux; elsewhere such a signal stops the run). On a system without these signals, only Ctrl-C stops the run.
    ///
    /// # Errors
    /// [`Error::CtrlC`] if the operating system refuses the handler. The signals of an earlier call still stop the run.
    #[cfg(feature = "ctrlc")]
    pub fn stop_on_signals(&self) -> Result<()> {
        super::signals::stop(&self.owner.handle.shared, &super::signals::ALL)
    }

    /// The same as [`stop_on_signals`](Self::stop_on_signals), for SIGINT alone: SIGTERM and SIGHUP end the process without
    /// `stop` hooks. But if `stop_on_signals` was called for another run of the process, SIGTERM and SIGHUP stop this run too.
    ///
    /// # Errors
    /// [`Error::CtrlC`] if the operating system refuses the handler.
    #[cfg(feature = "ctrlc")]
    pub fn stop_on_ctrl_c(&self) -> Result<()> {
        super::signals::stop(&self.owner.handle.shared, &[super::signals::INTERRUPT])
    }

    /// Returns a future that is ready when the run is over. After that, [`join`](Self::join) returns the run's result without
    /// waiting: `running.ended().await; running.join()?;`. Dropping the future has no effect on the run.
    ///
    /// The thread of the run wakes the task, as its last action. An executor that polls the task inside of the wake-up polls it
    /// on the thread of the run. There `join` returns [`Error::StillRunning`], as it does in an operator. So a task that joins
    /// must be polled on another thread.
    #[cfg(feature = "futures")]
    pub fn ended(&mut self) -> impl Future<Output = ()> + Send + Unpin {
        Ended::new(&self.owner.handle.shared)
    }

    /// Waits for the end of the run, drops the graph, and returns the result of the run.
    ///
    /// # Errors
    /// The errors of the graph's method `run`; [`Error::RunOver`] if [`join_timeout`](Self::join_timeout) has already returned
    /// the result; [`Error::StillRunning`] if an operator of the graph calls this method.
    pub fn join(mut self) -> Result<Report> {
        let done = self.owner.wait();
        let dropped = self.owner.drop_graph();
        done.and_then(|report| dropped.map(|()| report))
    }

    /// Waits for the end of the run. Returns the graph, which can be run again or have its operators read, and the result.
    ///
    /// # Errors
    /// [`Error::StillRunning`] if an operator of the graph calls this method: the graph is still in use then, and is not
    /// returned. The result has the same errors as the result of [`join`](Self::join).
    pub fn join_with_graph(mut self) -> Result<(G, Result<Report>)> {
        let done = self.owner.wait();
        let graph: Option<Box<dyn Any>> = self.owner.take_graph().map(|graph| graph as _);
        match graph.and_then(|graph| graph.downcast::<G>().ok()) {
            Some(graph) => Ok((*graph, done)),
            None => Err(done.err().unwrap_or_else(|| self.owner.handle.shared.still_running())),
        }
    }

    /// Waits for the end of the run, at most for a duration of real time, and returns the run's result. Only one call returns the
    /// result; after it, [`join_with_graph`](Self::join_with_graph) still returns the graph.
    ///
    /// # Errors
    /// [`Error::StillRunning`] if the run has not ended: the error names the hook that has not returned, and the run goes on.
    /// After the end of the run, the errors of [`join`](Self::join).
    pub fn join_timeout(&mut self, at_most: Duration) -> Result<Report> {
        self.owner.wait_at_most(at_most)
    }
}

impl<G: Graph> fmt::Debug for Running<G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Running").field("handle", &self.owner.handle).finish_non_exhaustive()
    }
}
