//! The inputs of a graph, as Python programs use them.

use std::sync::Arc;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt};
use streamflow::message::Value;

use super::message::{Adopting, InputMessage};
use super::operators::Pushed;
use super::port::{Call, Port};
use super::queue::{Phase, Queue, Refused};
use crate::stream::Stream;

/// A queue of the messages that Python pushes, for an input whose message type is known only at run time.
pub(crate) trait AnyInput: Send + Sync {
    fn push(
        &self,
        value: &Bound<'_, PyAny>,
        adopting: &Adopting<'_, '_>,
        metadata: Vec<(String, Value)>,
        sequence: Option<u64>,
        call: &Call<'_>,
    ) -> PyResult<()>;
    fn close(&self);
    fn describe(&self) -> String;
    fn waiting(&self) -> (usize, usize);
    fn left(&self) -> usize;
}

impl<M: InputMessage> AnyInput for Arc<Queue<Pushed<M>>> {
    fn push(
        &self,
        value: &Bound<'_, PyAny>,
        adopting: &Adopting<'_, '_>,
        metadata: Vec<(String, Value)>,
        sequence: Option<u64>,
        call: &Call<'_>,
    ) -> PyResult<()> {
        let message = M::adopt(value, adopting)?;
        let mut pushed = Pushed { message, metadata, sequence };
        loop {
            pushed = match Queue::push(self, pushed) {
                Ok(()) => return Ok(()),
                Err(Refused::Closed) => return Err(call.closed()),
                Err(Refused::Ended) => return Err(call.ended("nothing can be pushed")),
                Err(Refused::Full(pushed)) => pushed,
            };
            let run = &call.port.run;
            if self.phase() == Phase::New && run.handle().is_none() {
                return Err(run.not_started(call.port.name, "it is full"));
            }
            if run.is_over() {
                return Err(call.ended("nothing can be pushed"));
            }
            call.wait(self, |len, capacity, phase| len < capacity || phase == Phase::Ended)?;
        }
    }

    fn close(&self) {
        Queue::close(self);
    }

    fn describe(&self) -> String {
        M::describe()
    }

    fn waiting(&self) -> (usize, usize) {
        (self.len(), self.capacity())
    }

    fn left(&self) -> usize {
        Queue::left(self)
    }
}

/// Converts a Python object into a metadata value. `name` is the value's name for error texts.
fn value(name: &str, object: &Bound<'_, PyAny>) -> PyResult<Value> {
    if let Ok(value) = object.cast::<PyBool>() {
        Ok(value.is_true().into())
    } else if let Ok(value) = object.cast::<PyInt>() {
        value.extract::<i64>().map(Into::into).map_err(|_| {
            PyValueError::new_err(format!("metadata `{name}`: a whole number has at most 64 bits"))
        })
    } else if let Ok(value) = object.cast::<PyFloat>() {
        Ok(value.value().into())
    } else if let Ok(value) = object.extract::<String>() {
        Ok(value.into())
    } else {
        Err(PyTypeError::new_err(format!(
            "metadata `{name}` is a {}; a value is a bool, an int, a float or a str",
            object.get_type().name()?
        )))
    }
}

/// An input of a graph. The graph gets the messages pushed here, in order.
///
/// The input is an attribute of the graph, under the name of the port.
#[pyclass(frozen, module = "streamflow")]
pub struct Input {
    pub(crate) port: Port,
    pub(crate) queue: Box<dyn AnyInput>,
}

#[pymethods]
impl Input {
    /// The name of the port.
    #[getter]
    fn name(&self) -> &'static str {
        self.port.name
    }

    /// The stream of the port. The graph uses a pushed tensor after all work that was queued on this stream before the push, so
    /// other libraries may write the tensor on it: `with cupy.cuda.Stream.from_external(port.stream): …`.
    #[getter]
    fn stream(&self, py: Python<'_>) -> Py<Stream> {
        self.port.stream.clone_ref(py)
    }

    /// How many pushed messages the graph had not used when its run ended, as by `stop` or a failure. The memory of these
    /// messages went back to its owners. A run that ends after `finish` or `close` leaves none.
    #[getter]
    fn left(&self) -> usize {
        self.queue.left()
    }

    /// Gives the graph a tensor, without a copy if the graph's device can use the memory. An array on the host, as of
    /// NumPy, is copied to a GPU. Waits while the port is full, without the interpreter lock.
    ///
    /// The graph uses the tensor after the work that the producing library has queued for it, and after the work on
    /// `port.stream`. If the array was not copied, do not write it afterwards: the graph has the array now, and may write it.
    ///
    /// An array may have padding between its rows, as `a[:, :w]` of a wider one. A port of pitched tensors takes it as it is.
    /// For a port of dense tensors, its rows are copied to a dense tensor on `port.stream`, without waiting.
    ///
    /// Parameters
    /// ----------
    /// value : array, or dict of str to array
    ///     A tensor of streamflow, or an array of a library with DLPack or an array interface, of the port's element type
    ///     and shape. A port of named tensors takes a dict.
    /// metadata : dict of str to bool, int, float or str, optional
    ///     Values that travel with the message.
    /// sequence : int, optional
    ///     The sequence number of the message; the number of the tick by default.
    /// copy : bool, optional
    ///     As for `as_tensor`: None copies an array on the host if the graph is on a GPU, and one with padded rows if the
    ///     port's tensors are dense. True copies always, and False never. A copy is needed of a read-only array, and of one that is written again.
    /// timeout : float, optional
    ///     How long to wait for room, in seconds; without a limit by default.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     For another element type, or an object that is no array.
    /// ValueError
    ///     For another shape, or other names.
    /// BufferError
    ///     For memory of another device, an array that is not dense, except for padding between its rows, or one that is
    ///     read-only; with ``copy=False`` for an array that must be copied.
    /// Ended
    ///     If the graph has ended, or the port was closed.
    /// TimeoutError
    ///     If there was no room in time.
    /// KeyboardInterrupt
    ///     At Ctrl-C. The graph runs on.
    #[pyo3(signature = (value, /, *, metadata = None, sequence = None, copy = None, timeout = None))]
    fn push(
        &self,
        py: Python<'_>,
        value: &Bound<'_, PyAny>,
        metadata: Option<&Bound<'_, PyDict>>,
        sequence: Option<u64>,
        copy: Option<bool>,
        timeout: Option<f64>,
    ) -> PyResult<()> {
        self.push_in_order(py, value, metadata, sequence, copy, timeout, false)
    }

    /// Pushes a tensor of streamflow as `push` does, but without its order: the port's stream does not wait for the tensor. For
    /// tests only: the graph then uses the tensor after the work on the port's stream, and after no other work.
    fn _push_unordered(&self, py: Python<'_>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.push_in_order(py, value, None, None, None, None, true)
    }

    /// Says that nothing more will be pushed. The graph uses up the pushed messages, and then ends if no other node keeps it
    /// running. A second call changes nothing.
    fn close(&self) {
        self.queue.close();
    }

    fn __len__(&self) -> usize {
        self.queue.waiting().0
    }

    fn __bool__(&self) -> bool {
        true
    }

    fn __repr__(&self) -> String {
        let (waiting, capacity) = self.queue.waiting();
        let (name, what, shape) = (self.port.name, self.queue.describe(), self.port.shape_text());
        format!("<streamflow.Input {name}: {what}{shape}, {waiting} of {capacity} wait>")
    }
}

impl Input {
    #[allow(clippy::too_many_arguments, reason = "those of `push`")]
    fn push_in_order(
        &self,
        py: Python<'_>,
        value: &Bound<'_, PyAny>,
        metadata: Option<&Bound<'_, PyDict>>,
        sequence: Option<u64>,
        copy: Option<bool>,
        timeout: Option<f64>,
        is_unordered: bool,
    ) -> PyResult<()> {
        let call = Call::new(py, &self.port, timeout)?;
        let mut values = Vec::new();
        for (name, object) in metadata.into_iter().flatten() {
            let name: String = name.extract()?;
            values.push((name.clone(), self::value(&name, &object)?));
        }
        let Port { name, stream, shape, .. } = &self.port;
        let adopting = Adopting { py, port: name, stream, shape, copy, is_unordered };
        self.queue.push(value, &adopting, values, sequence, &call)
    }
}
