//! The common part of all ports of a graph: a stream, and calls that wait.

use std::sync::Arc;
use std::time::{Duration, Instant};

use pyo3::create_exception;
use pyo3::exceptions::{PyTimeoutError, PyValueError};
use pyo3::prelude::*;

use super::message::shape_text;
use super::queue::{Phase, Queue};
use super::run::{Run, SLICE};
use crate::error::StreamflowError;
use crate::stream::Stream;

create_exception!(
    streamflow,
    Ended,
    StreamflowError,
    "A port was used after its graph had ended, or after it was closed. The text says why the graph has ended."
);

/// The fields that an input and an output have in common.
pub(crate) struct Port {
    pub(crate) name: &'static str,
    pub(crate) stream: Py<Stream>,
    pub(crate) run: Arc<Run>,
    pub(crate) shape: Vec<Option<usize>>,
}

impl Port {
    /// Returns the shape of the port's messages as a part of a text; empty if any shape is right.
    pub(super) fn shape_text(&self) -> String {
        match &*self.shape {
            [] => String::new(),
            shape => format!(" of shape {}", shape_text(shape)),
        }
    }
}

/// Converts a time limit in seconds from Python into the moment at which it is over. Returns `None` without a limit, and for a
/// limit that no `Instant` can express.
pub(super) fn end_of(timeout: Option<f64>) -> PyResult<Option<Instant>> {
    match timeout.map(|seconds| (seconds, Duration::try_from_secs_f64(seconds))) {
        None => Ok(None),
        Some((_, Ok(timeout))) => Ok(Instant::now().checked_add(timeout)),
        // The limit is longer than a `Duration` can be, so there is no limit.
        Some((seconds, Err(_))) if seconds > 0.0 => Ok(None),
        Some(_) => Err(PyValueError::new_err(
            "`timeout` is a number of seconds that is not negative, or None to wait without a limit",
        )),
    }
}

/// A call from Python that may have to wait at a port.
pub(crate) struct Call<'a> {
    pub(super) py: Python<'a>,
    pub(super) port: &'a Port,
    until: Option<Instant>,
    timeout: Option<f64>,
}

impl<'a> Call<'a> {
    pub(super) fn new(py: Python<'a>, port: &'a Port, timeout: Option<f64>) -> PyResult<Self> {
        Ok(Self { py, port, until: end_of(timeout)?, timeout })
    }

    /// Waits for a short time, or until the graph changes something in the queue. The interpreter lock is released meanwhile.
    pub(super) fn wait<E: Send>(
        &self,
        queue: &Queue<E>,
        is_enough: fn(usize, usize, Phase) -> bool,
    ) -> PyResult<()> {
        let left = self.until.map(|until| until.saturating_duration_since(Instant::now()));
        if left.is_some_and(|left| left.is_zero()) {
            return Err(PyTimeoutError::new_err(format!(
                "port `{}`: nothing has changed for {} s",
                self.port.name,
                self.timeout.unwrap_or_default()
            )));
        }
        let at_most = left.map_or(SLICE, |left| left.min(SLICE));
        let capacity = queue.capacity();
        self.py.detach(|| queue.wait(at_most, |len, phase| is_enough(len, capacity, phase)));
        self.py.check_signals()
    }

    /// Returns the exception for a call at a port whose graph has ended.
    pub(super) fn ended(&self, problem: &str) -> PyErr {
        let run = &self.port.run;
        // The run's thread may still call `stop` hooks. Only after these does the run's report say why the run has ended.
        let (_, why) = self.py.detach(|| {
            let end = Instant::now() + Duration::from_secs(1);
            while run.handle().is_some() && !run.is_over() && Instant::now() < end {
                std::thread::sleep(Duration::from_micros(100));
            }
            run.why()
        });
        Ended::new_err(format!(
            "port `{}` of {}: {problem}, since the run has ended: {why}; make a new {} to run again",
            self.port.name, run.class, run.class
        ))
    }

    /// Returns the exception for a call at an output whose operator in Python has no more input, while the run goes on.
    pub(super) fn flushed(&self) -> PyErr {
        Ended::new_err(format!(
            "port `{}` of {}: nothing is left to take, since all nodes before it have ended; send what was held back, and close the \
             inputs that it goes to",
            self.port.name, self.port.run.class
        ))
    }

    pub(super) fn closed(&self) -> PyErr {
        Ended::new_err(format!("port `{}` of {} was closed", self.port.name, self.port.run.class))
    }
}
