//! The state of a graph's run, which all Python objects of the graph share.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::time::{Duration, Instant};

use pyo3::prelude::*;
use streamflow::schedule::{End, RunHandle};

use crate::error::StreamflowError;

/// The longest time that a call waits before it checks for signals such as Ctrl-C.
pub(crate) const SLICE: Duration = Duration::from_millis(20);

/// The longest time that the exit of the interpreter waits for the runs to end.
const PATIENCE: Duration = Duration::from_secs(10);

/// The run of a graph object, if it has begun. A graph object runs once.
pub(crate) struct Run {
    /// The name of the graph's Python class.
    pub(crate) class: &'static str,
    handle: OnceLock<RunHandle>,
}

/// Whether the interpreter is exiting. From then on the drop of an object does not wait for its run.
static IS_EXITING: AtomicBool = AtomicBool::new(false);

/// Whether the interpreter is exiting, and has already waited for the runs to end.
pub(crate) fn is_exiting() -> bool {
    IS_EXITING.load(Ordering::Acquire)
}

/// All runs that have begun. They are stopped when the interpreter exits.
static RUNS: Mutex<Vec<Weak<Run>>> = Mutex::new(Vec::new());

impl Run {
    pub(crate) fn new(class: &'static str) -> Arc<Self> {
        Arc::new(Self { class, handle: OnceLock::new() })
    }

    /// Notes that the run has begun.
    pub(crate) fn begin(self: &Arc<Self>, handle: RunHandle) {
        let _ = self.handle.set(handle);
        let mut runs = RUNS.lock().unwrap_or_else(PoisonError::into_inner);
        runs.retain(|run| run.upgrade().is_some_and(|run| !run.is_over()));
        runs.push(Arc::downgrade(self));
    }

    pub(crate) fn handle(&self) -> Option<&RunHandle> {
        self.handle.get()
    }

    pub(crate) fn is_over(&self) -> bool {
        self.handle().is_some_and(RunHandle::is_over)
    }

    /// Returns whether the run has failed, and why it has ended, as text. The caller must not hold the interpreter lock.
    pub(crate) fn why(&self) -> (bool, String) {
        let report = self.handle().map(RunHandle::report);
        match report {
            Some(Ok(report)) => (matches!(report.end, End::Failed { .. }), report.end.to_string()),
            _ => (false, "it was dropped".to_owned()),
        }
    }

    /// Returns the exception for a call that would wait for ever, because the graph has not started.
    pub(crate) fn not_started(&self, port: &str, problem: &str) -> PyErr {
        StreamflowError::new_err(format!(
            "port `{port}` of {}: {problem}, and the graph has not started; call `spawn()` first",
            self.class
        ))
    }
}

/// Stops all runs and waits until they end, but not longer than [`PATIENCE`]. The caller must not hold the interpreter lock.
pub(crate) fn stop_all_blocking() {
    let runs: Vec<Arc<Run>> = {
        let mut runs = RUNS.lock().unwrap_or_else(PoisonError::into_inner);
        runs.drain(..).filter_map(|run| run.upgrade()).collect()
    };
    runs.iter().filter_map(|run| run.handle()).for_each(RunHandle::stop);
    let end = Instant::now() + PATIENCE;
    while runs.iter().any(|run| !run.is_over()) && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(1));
    }
    IS_EXITING.store(true, Ordering::Release);
}
