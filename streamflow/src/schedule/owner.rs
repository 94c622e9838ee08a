//! The owner of a graph that runs on a thread of its own. It makes the thread, waits for its end, and stops the run.
//!
//! This code does not depend on the type of the graph, so it is compiled once.

use std::any::Any;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::choice::chosen;
use super::handle::RunHandle;
use super::inside::{self, is_inside};
use super::replay::Replay;
use super::report::Report;
use super::run::Run;
use super::shared::Shared;
use super::thread::RunThread;
use crate::driver::report_in_drop;
use crate::error::{Error, Result, caught_as_error};
use crate::graph::{Graph, RunState};

/// A graph of any type that can move to another thread.
pub(super) trait AnyGraph: Graph + Any + Send {}

impl<G: Graph + Any + Send> AnyGraph for G {}

/// What the thread returns: the graph, and the result of its run.
type Ended = (Box<dyn AnyGraph>, Result<Report>);

/// The owner of a run. Dropping it stops the run and waits for its end.
pub(super) struct RunOwner {
    pub(super) handle: RunHandle,
    /// The thread of the run. `None` after a wait for the end of the run.
    thread: Option<RunThread<Ended>>,
    /// The graph, after the thread has returned it.
    graph: Mutex<Option<Box<dyn AnyGraph>>>,
}

impl RunOwner {
    /// Creates the thread that runs the graph.
    ///
    /// # Errors
    /// [`Error::NoThread`]. The graph was dropped then.
    #[track_caller]
    pub(super) fn spawn(mut graph: Box<dyn AnyGraph>) -> Result<Self> {
        let (name, platform) = (graph.__streamflow_name(), graph.platform().clone());
        platform.begin_use()?;
        let workers = chosen(&mut *graph)?;
        let replay = Replay::of(&mut *graph)?;
        let stepped: Option<Box<Run>> = graph.__streamflow_run().and_then(RunState::take);
        let mut run = match stepped {
            Some(run) => *run,
            None => Run::new(&mut graph.nodes(), &platform, name, replay),
        };
        run.set_workers(workers);
        let clock = platform.clock().clone();
        let shared = Arc::new(Shared::new(name, run.control.clone(), clock));
        let of_thread = shared.clone();
        let thread = RunThread::spawn(name, move || {
            let _inside = inside::enter(&of_thread.control);
            let run = caught_as_error(|| run.finish(&mut graph.nodes(), None, Some(&of_thread)));
            let done = run.unwrap_or_else(|panic| Err(*panic));
            of_thread.set_over();
            #[cfg(feature = "futures")]
            super::ended::wake_task(&of_thread);
            (graph, done)
        });
        let thread =
            thread.map_err(|error| Error::NoThread { graph: name, cause: error.to_string() })?;
        let handle = RunHandle { shared };
        Ok(Self { handle, thread: Some(thread), graph: Mutex::default() })
    }

    /// Waits for the end of the run, and returns its result. Only the first call returns the result.
    ///
    /// # Errors
    /// The error of the run; [`Error::RunOver`] for a second call; [`Error::StillRunning`] on the thread of the run.
    pub(super) fn wait(&mut self) -> Result<Report> {
        let shared = &self.handle.shared;
        let Some(thread) = self.thread.take() else {
            return Err(shared.too_late("join", "was joined before, by `join_timeout`"));
        };
        if thread.is_current() || is_inside(&self.handle.shared.control) {
            let error = shared.still_running();
            self.thread = Some(thread);
            return Err(error);
        }
        let Some((graph, done)) = thread.join() else {
            return Err(shared.too_late("join", "has panicked outside of all hooks"));
        };
        self.graph = Mutex::new(Some(graph));
        done
    }

    /// Does the same as [`wait`](Self::wait), but waits at most for this time.
    ///
    /// # Errors
    /// [`Error::StillRunning`] if the run goes on.
    pub(super) fn wait_at_most(&mut self, at_most: Duration) -> Result<Report> {
        let shared = &self.handle.shared;
        // Stores since when the present hooks run, so that the error can say how long they have been running.
        drop(shared.status());
        if self.thread.is_some() && !shared.wait_until_over(at_most) {
            return Err(shared.still_running());
        }
        self.wait()
    }

    /// Returns the graph to the first caller, and `None` to later ones. The caller has waited for the end of the run.
    pub(super) fn take_graph(&mut self) -> Option<Box<dyn AnyGraph>> {
        self.graph.get_mut().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Drops the graph. Its operators are the user's, and may panic when they are dropped.
    ///
    /// # Errors
    /// The panic, as an [`Error::Panicked`].
    pub(super) fn drop_graph(&mut self) -> Result<()> {
        let graph = self.take_graph();
        caught_as_error(|| drop(graph)).map_err(|panic| *panic)
    }
}

impl Drop for RunOwner {
    fn drop(&mut self) {
        if let Some(thread) = &self.thread {
            self.handle.stop();
            if thread.is_current() || is_inside(&self.handle.shared.control) {
                // An operator of the graph drops the owner here. Waiting for the thread would be waiting for that operator's own
                // hook. The thread drops the graph at its end.
                return;
            }
            let done = self.wait().map(drop);
            report_in_drop("a run whose `Running` was dropped has failed", done);
        }
        report_in_drop("dropping a graph that has run", self.drop_graph());
    }
}
