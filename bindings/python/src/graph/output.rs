//! The outputs of a graph, as Python programs use them.

use std::sync::Arc;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyString};
use streamflow::message::Value;

use super::message::OutputMessage;
use super::operators::Taken;
use super::port::{Call, Ended, Port};
use super::queue::{Found, Phase, Queue};
use crate::error::OrRaise;
use crate::stream::Stream;

/// A queue of the messages that Python takes, for an output whose message type is known only at run time.
pub(crate) trait AnyOutput: Send + Sync {
    fn take(&self, call: &Call<'_>) -> PyResult<Message>;
    fn close(&self);
    fn describe(&self) -> String;
    fn waiting(&self) -> (usize, usize);
    /// Whether the graph will send nothing more to this output, although its run goes on.
    fn is_flushed(&self) -> bool;
}

impl<M: OutputMessage> AnyOutput for Arc<Queue<Taken<M>>> {
    fn take(&self, call: &Call<'_>) -> PyResult<Message> {
        let taken = loop {
            // `is_over` is read before the queue, since a run that is over adds no message to the queue afterwards.
            let is_over = call.port.run.is_over();
            match Queue::take(self) {
                Found::Entry(taken) => break taken,
                Found::Closed => return Err(call.closed()),
                Found::Ended => return Err(call.ended("nothing is left to take")),
                Found::Flushed => return Err(call.flushed()),
                Found::Empty if is_over => return Err(call.ended("nothing is left to take")),
                Found::Empty => {}
            }
            let run = &call.port.run;
            if self.phase() == Phase::New && run.handle().is_none() {
                return Err(run.not_started(call.port.name, "it has no message"));
            }
            call.wait(self, |len, _, phase| len > 0 || !matches!(phase, Phase::New | Phase::Runs))?;
        };
        let (py, stream) = (call.py, &call.port.stream);
        // The port's stream waits for the message, so work that Python queues on this stream later comes after the message.
        py.detach(|| stream.get().with(|_, stream| stream.wait(taken.ready))).or_raise()?;
        let metadata = PyDict::new(py);
        for (name, value) in &taken.metadata {
            metadata.set_item(name, object(py, value)?)?;
        }
        let data = M::export(taken.message, py, stream)?;
        Ok(Message { data, metadata: metadata.unbind(), sequence: taken.sequence })
    }

    fn close(&self) {
        Queue::close(self);
        while let Found::Entry(taken) = Queue::take(self) {
            drop(taken);
        }
    }

    fn describe(&self) -> String {
        M::describe()
    }

    fn waiting(&self) -> (usize, usize) {
        (self.len(), self.capacity())
    }

    fn is_flushed(&self) -> bool {
        self.phase() == Phase::Flushed
    }
}

/// Converts a metadata value into a Python object.
fn object(py: Python<'_>, value: &Value) -> PyResult<Py<PyAny>> {
    Ok(match value {
        Value::Bool(value) => PyBool::new(py, *value).to_owned().into_any().unbind(),
        Value::Integer(value) => PyInt::new(py, *value).into_any().unbind(),
        Value::Float(value) => PyFloat::new(py, *value).into_any().unbind(),
        Value::Text(value) => PyString::new(py, value).into_any().unbind(),
        other => {
            return Err(PyTypeError::new_err(format!("the value {other} has no form in Python")));
        }
    })
}

/// A message together with its metadata.
#[pyclass(frozen, get_all, module = "streamflow")]
pub struct Message {
    /// The tensor, or the dict of tensors by name.
    data: Py<PyAny>,
    /// The values that operators have added: a dict of str to bool, int, float or str.
    metadata: Py<PyDict>,
    /// The sequence number, an int; None if the message has none.
    sequence: Option<u64>,
}

#[pymethods]
impl Message {
    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let (data, metadata) = (self.data.bind(py).repr()?, self.metadata.bind(py).repr()?);
        let sequence = self.sequence.map_or("None".to_owned(), |number| number.to_string());
        Ok(format!("<streamflow.Message {sequence}: {data}, metadata {metadata}>"))
    }
}

/// An output of a graph. Python takes the graph's messages here, in order.
///
/// The output is an attribute of the graph, under the name of the port. Iterating over it takes all messages until the
/// graph has ended: `for tensor in graph.y: …`. At an output for an operator in Python the iteration ends when the
/// inputs of that operator have ended. A graph waits while an output is full; `close` ends that.
#[pyclass(frozen, module = "streamflow")]
pub struct Output {
    pub(crate) port: Port,
    pub(crate) queue: Box<dyn AnyOutput>,
}

#[pymethods]
impl Output {
    /// The name of the port.
    #[getter]
    fn name(&self) -> &'static str {
        self.port.name
    }

    /// The stream of the port. Work that is queued on this stream after a message was taken comes after the graph's work that has
    /// written the message, so other libraries may use it: `with cupy.cuda.Stream.from_external(port.stream): …`.
    #[getter]
    fn stream(&self, py: Python<'_>) -> Py<Stream> {
        self.port.stream.clone_ref(py)
    }

    /// Takes the oldest message. Waits while there is no message, without the interpreter lock, but not for the work of
    /// the GPU.
    ///
    /// Parameters
    /// ----------
    /// timeout : float, optional
    ///     How long to wait for a message, in seconds; without a limit by default.
    ///
    /// Returns
    /// -------
    /// Tensor, or dict of str to Tensor
    ///     On the port's stream. Other libraries that use it come after the graph.
    ///
    /// Raises
    /// ------
    /// Ended
    ///     If the graph has ended or sends nothing more here, and nothing is left, or the port was closed.
    /// TimeoutError
    ///     If there was no message in time.
    /// KeyboardInterrupt
    ///     At Ctrl-C. The graph runs on.
    #[pyo3(signature = (*, timeout = None))]
    fn take(&self, py: Python<'_>, timeout: Option<f64>) -> PyResult<Py<PyAny>> {
        Ok(self.queue.take(&Call::new(py, &self.port, timeout)?)?.data)
    }

    /// Takes the oldest message as `take` does, and returns it with its metadata.
    ///
    /// Parameters
    /// ----------
    /// timeout : float, optional
    ///
    /// Returns
    /// -------
    /// Message
    #[pyo3(signature = (*, timeout = None))]
    fn take_message(&self, py: Python<'_>, timeout: Option<f64>) -> PyResult<Message> {
        self.queue.take(&Call::new(py, &self.port, timeout)?)
    }

    /// Says that nothing more will be taken. The messages in the queue, and all that the graph sends here later, are dropped. A
    /// second call changes nothing.
    fn close(&self, py: Python<'_>) {
        py.detach(|| self.queue.close());
    }

    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    /// Returns the next message. The iteration ends with the run, or, at an output for an operator in Python, when the inputs of
    /// that operator have ended. If the run has failed, this raises the error of the run.
    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        match self.take(py, None) {
            Ok(data) => Ok(Some(data)),
            Err(error) if error.is_instance_of::<Ended>(py) => {
                if self.queue.is_flushed() {
                    return Ok(None);
                }
                let run = &self.port.run;
                match py.detach(|| run.why()) {
                    (true, _) if run.handle().is_some() => Err(error),
                    _ => Ok(None),
                }
            }
            Err(error) => Err(error),
        }
    }

    fn __len__(&self) -> usize {
        self.queue.waiting().0
    }

    fn __bool__(&self) -> bool {
        true
    }

    fn __repr__(&self) -> String {
        let (waiting, capacity) = self.queue.waiting();
        let (name, what) = (self.port.name, self.queue.describe());
        format!("<streamflow.Output {name}: {what}, {waiting} of {capacity} wait>")
    }
}
