//! The report of a run, as a Python class.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use streamflow::schedule::{self, End};

/// The report of a run: its work, and why it ended. `str(report)` is a table.
#[pyclass(frozen, module = "streamflow")]
pub struct Report {
    inner: schedule::Report,
}

impl Report {
    pub(crate) fn new(inner: schedule::Report) -> Self {
        Self { inner }
    }
}

#[pymethods]
impl Report {
    /// Why the run ended, as a word: "sources_done", "finished", "stopped", "ticks_done", "time_over", "failed", or
    /// "not_yet" for the report of a run that goes on.
    #[getter]
    fn end(&self) -> &'static str {
        match self.inner.end {
            End::SourcesDone => "sources_done",
            End::Finished { .. } => "finished",
            End::Stopped { .. } => "stopped",
            End::TicksDone => "ticks_done",
            End::TimeOver => "time_over",
            End::Failed { .. } => "failed",
            _ => "not_yet",
        }
    }

    /// Why the run ended, in words.
    #[getter]
    fn why(&self) -> String {
        self.inner.end.to_string()
    }

    /// How many ticks each node did: a dict of str to int, with producers before their consumers.
    #[getter]
    fn ticks<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let ticks = PyDict::new(py);
        for node in &self.inner.nodes {
            ticks.set_item(&node.name, node.ticks)?;
        }
        Ok(ticks)
    }

    /// How long the run lasted, in seconds, from the end of its `start` hooks.
    #[getter]
    fn elapsed(&self) -> f64 {
        self.inner.elapsed.as_secs_f64()
    }

    /// How many ticks of each node have failed: a dict of str to int. Nodes without a failure are not in the dict.
    #[getter]
    fn failures<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let failures = PyDict::new(py);
        for node in self.inner.nodes.iter().filter(|node| node.failures > 0) {
            failures.set_item(&node.name, node.failures)?;
        }
        Ok(failures)
    }

    /// The messages of each edge: a list of (edge, sent, received, dropped, left). However the run has ended, `sent` is the sum
    /// of the other three.
    #[getter]
    fn edges<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyTuple>>> {
        let edges = self.inner.edges.iter();
        let edges = edges.map(|it| (it.edge, it.sent, it.received, it.dropped, it.left));
        edges.map(|it| it.into_pyobject(py)).collect()
    }

    /// The nodes that have received messages of one source with different numbers in one tick, as a frame with the boxes of an
    /// earlier frame: a list of (node, number of such ticks, source, two inputs, two numbers). The inputs and the numbers are
    /// those of the node's first such tick.
    #[getter]
    fn mixed<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyTuple>>> {
        let mixed = self.inner.mixed.iter().map(|it| {
            let ([one, other], [of_one, of_other]) = (it.inputs, it.sequences);
            (&it.node, it.ticks, &it.source, (one, other), (of_one, of_other))
        });
        mixed.map(|it| it.into_pyobject(py)).collect()
    }

    /// The messages that were sent and never received: a list of (edge, number of messages, reason).
    #[getter]
    fn dropped<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyTuple>>> {
        let dropped = self.inner.dropped.iter();
        dropped.map(|it| (it.edge, it.messages, it.reason.to_string()).into_pyobject(py)).collect()
    }

    /// The parameters that were set, each with the first tick that used the value: a list of (node, parameter, tick, value as
    /// text).
    #[getter]
    fn parameters<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyTuple>>> {
        let changes = self.inner.parameters.iter();
        changes.map(|it| (&it.node, it.parameter, it.tick, &it.value).into_pyobject(py)).collect()
    }

    fn __str__(&self) -> String {
        self.inner.to_string()
    }

    fn __repr__(&self) -> String {
        format!("<streamflow.Report: {}>", self.inner.end)
    }
}
