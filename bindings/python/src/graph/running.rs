//! A graph that runs on a thread of its own.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use pyo3::exceptions::PyTimeoutError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use streamflow::graph::Graph as AnyGraph;
use streamflow::schedule::{self, RunHandle, Running as Inner};
use streamflow::{Error, Failure};
use streamflow::{Schedule, Spawn};

use super::input::Input;
use super::port::end_of;
use super::report::Report;
use super::run::{Run, SLICE, is_exiting};
use crate::error::{OrRaise, StreamflowError};

/// A graph of any type that has not run yet.
pub(crate) trait Runnable: Send {
    fn set_workers(&mut self, count: usize) -> Result<(), Error>;
    fn spawn(self: Box<Self>) -> Result<Box<dyn Joinable>, Error>;
}

/// A run of a graph of any type.
pub(crate) trait Joinable: Send {
    fn handle(&self) -> RunHandle;
    /// Waits for the end of the run, but not longer than `at_most`, and returns its result once. `None` if the run goes on.
    fn join(&mut self, at_most: Duration) -> Option<Result<schedule::Report, Error>>;
}

impl<G: AnyGraph + Send + 'static> Runnable for G {
    fn set_workers(&mut self, count: usize) -> Result<(), Error> {
        self.workers(count).map(drop)
    }

    fn spawn(self: Box<Self>) -> Result<Box<dyn Joinable>, Error> {
        Ok(Box::new(Spawn::spawn(*self)?))
    }
}

impl<G: AnyGraph + Send + 'static> Joinable for Inner<G>
where
    G::Handle: Send,
{
    fn handle(&self) -> RunHandle {
        Inner::handle(self)
    }

    fn join(&mut self, at_most: Duration) -> Option<Result<schedule::Report, Error>> {
        match self.join_timeout(at_most) {
            Err(Error::StillRunning { .. }) => None,
            done => Some(done),
        }
    }
}

/// A graph that runs on a thread of its own: `graph.spawn()` returns it.
///
/// As a context manager it stops the run at the end of the block, and raises the error of the run if it has failed::
///
///     with graph.spawn() as running:
///         graph.x.push(array)
///         result = graph.y.take()
///
/// Dropping the object stops the run and waits for its end. If Ctrl-C is pressed while `with` waits for a tick that does not end,
/// the run's thread is left to itself.
#[pyclass(frozen, module = "streamflow")]
pub struct Running {
    run: Arc<Run>,
    inputs: Vec<Py<Input>>,
    state: Mutex<State>,
}

enum State {
    Runs(Box<dyn Joinable>),
    /// Another thread has taken the run and is waiting for its end.
    Joined,
    Done(Box<schedule::Report>),
    Failed(PyErr),
}

impl Running {
    pub(crate) fn new(run: Arc<Run>, inputs: Vec<Py<Input>>, joinable: Box<dyn Joinable>) -> Self {
        Self { run, inputs, state: Mutex::new(State::Runs(joinable)) }
    }

    /// Gives up waiting for a run that does not end. Its thread goes on until the process ends.
    pub(crate) fn abandon(&self) {
        std::mem::forget(std::mem::replace(&mut *self.state(), State::Joined));
    }

    fn handle(&self) -> PyResult<&RunHandle> {
        self.run.handle().ok_or_else(|| StreamflowError::new_err("the run has not begun"))
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the end of the run, but not longer than `at_most`, with the interpreter lock released. `None` if the run goes
    /// on.
    fn look(&self, py: Python<'_>, at_most: Duration) -> Option<PyResult<Report>> {
        let mut taken = match &mut *self.state() {
            State::Done(report) => return Some(Ok(Report::new((**report).clone()))),
            State::Failed(error) => return Some(Err(error.clone_ref(py))),
            state => std::mem::replace(state, State::Joined),
        };
        let (taken, done) = py.detach(|| match &mut taken {
            State::Runs(joinable) => {
                let done = joinable.join(at_most);
                (taken, done)
            }
            _ => {
                std::thread::sleep(Duration::from_millis(1).min(at_most));
                (State::Joined, None)
            }
        });
        let (next, found) = match done {
            None => (taken, None),
            Some(Ok(report)) => {
                (State::Done(Box::new(report.clone())), Some((taken, Ok(Report::new(report)))))
            }
            Some(Err(error)) => {
                let error = failed(error);
                (State::Failed(error.clone_ref(py)), Some((taken, Err(error))))
            }
        };
        if !matches!(next, State::Joined) {
            *self.state() = next;
        }
        let (ended, result) = found?;
        // The graph is dropped while the interpreter lock is released, since the drop of its operators may take long.
        py.detach(|| drop(ended));
        Some(result)
    }
}

/// Returns the exception for a failed run. Its text has all failures of the run.
fn failed(error: Error) -> PyErr {
    let text = format!("{:?}", Failure::from(error));
    StreamflowError::new_err(text)
}

#[pymethods]
impl Running {
    /// Ends the run: the present tick finishes, and messages that wait are dropped and counted in the report. Returns at once.
    fn stop(&self) -> PyResult<()> {
        self.handle()?.stop();
        Ok(())
    }

    /// Closes all inputs: the graph uses up the pushed messages, and then ends if no other node keeps it running. Go on taking
    /// from the graph's outputs meanwhile: the graph waits while an output is full.
    fn finish(&self) {
        self.inputs.iter().for_each(|input| input.get().queue.close());
    }

    /// Makes the run begin no further tick until `resume`. Raises an error if the run has ended.
    fn pause(&self) -> PyResult<()> {
        self.handle()?.pause().or_raise()
    }

    /// Ends a pause. Raises an error if the run has ended.
    fn resume(&self) -> PyResult<()> {
        self.handle()?.resume().or_raise()
    }

    /// Whether the run has ended.
    #[getter]
    fn is_over(&self) -> bool {
        self.run.is_over()
    }

    /// The present state of the run: the phase, and each node with its ticks.
    ///
    /// Returns
    /// -------
    /// dict
    ///     `phase`: "active", "paused", "stopping" or "over"; `nodes`: a dict of str to (ticks, what the node does); `text`:
    ///     a table.
    fn status<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let status = self.handle()?.status();
        let nodes = PyDict::new(py);
        for node in &status.nodes {
            let activity = match node.condition {
                Some(condition) => format!("{}: {condition}", node.activity),
                None => node.activity.to_string(),
            };
            nodes.set_item(&node.name, (node.ticks, activity))?;
        }
        let found = PyDict::new(py);
        found.set_item("phase", format!("{:?}", status.phase).to_lowercase())?;
        found.set_item("nodes", nodes)?;
        found.set_item("text", status.to_string())?;
        Ok(found)
    }

    /// The report of the run so far. After the end of the run, the report of the whole run, even if it has failed.
    ///
    /// Returns
    /// -------
    /// Report
    fn report(&self, py: Python<'_>) -> PyResult<Report> {
        let handle = self.handle()?;
        py.detach(|| handle.report()).or_raise().map(Report::new)
    }

    /// Waits for the end of the run, without the interpreter lock.
    ///
    /// Parameters
    /// ----------
    /// timeout : float, optional
    ///     How long to wait, in seconds; without a limit by default.
    ///
    /// Returns
    /// -------
    /// Report
    ///
    /// Raises
    /// ------
    /// streamflow.Error
    ///     If the run has failed. The text has the first cause, and what followed.
    /// TimeoutError
    ///     If it goes on.
    /// ValueError
    ///     For a negative timeout.
    /// KeyboardInterrupt
    ///     At Ctrl-C. The run goes on: call `stop`, or use `with`.
    #[pyo3(signature = (*, timeout = None))]
    pub(crate) fn join(&self, py: Python<'_>, timeout: Option<f64>) -> PyResult<Report> {
        let until = end_of(timeout)?;
        loop {
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            if let Some(done) = self.look(py, left.map_or(SLICE, |left| left.min(SLICE))) {
                return done;
            }
            py.check_signals()?;
            if left.is_some_and(|left| left.is_zero()) {
                let status = self.handle()?.status();
                return Err(PyTimeoutError::new_err(format!(
                    "the run of {} goes on after {} s: {status}",
                    self.run.class,
                    timeout.unwrap_or_default()
                )));
            }
        }
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    #[pyo3(signature = (kind, value, traceback))]
    fn __exit__(
        &self,
        py: Python<'_>,
        kind: Option<Py<PyAny>>,
        value: Option<Py<PyAny>>,
        traceback: Option<Py<PyAny>>,
    ) -> PyResult<bool> {
        let _ = (value, traceback);
        self.stop()?;
        let done = self.join(py, None);
        if done.is_err() && !self.run.is_over() {
            // Ctrl-C was pressed while this call waited for a tick that does not end.
            self.abandon();
        }
        match kind {
            // The `with` block has raised an exception. It says more than the run's error, so it is passed on.
            Some(_) => Ok(false),
            None => done.map(|_| false),
        }
    }

    fn __repr__(&self) -> PyResult<String> {
        let phase = format!("{:?}", self.handle()?.status().phase).to_lowercase();
        Ok(format!("<streamflow.Running {}: {phase}>", self.run.class))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let state = std::mem::replace(&mut *self.state(), State::Joined);
        if let State::Runs(joinable) = state {
            if is_exiting() && !self.run.is_over() {
                // The run has not ended within the time for which the interpreter's exit waits.
                std::mem::forget(joinable);
                return;
            }
            // The drop waits for the end of the run. Meanwhile another thread may need the interpreter lock to return memory.
            let mut joinable = Some(joinable);
            let dropped = Python::try_attach(|py| {
                let joinable = joinable.take();
                py.detach(|| drop(joinable));
            });
            if dropped.is_none() {
                // The interpreter has ended, so the run is leaked, and its thread ends with the process.
                std::mem::forget(joinable);
            }
        }
    }
}
