//! Events: places on streams.

use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use streamflow::stream::{Point, TimingEvent};

use crate::error::OrRaise;
use crate::handle::number;
use crate::own::own;
use crate::stream::{Queue, Stream, wait_until};

/// A place on a stream: it stands for all work that was queued on the stream before. `Stream.record` makes an event, too.
///
/// Parameters
/// ----------
/// timing : bool, optional
///     Whether the event's records have a time, for `elapsed_time`. A record with a time costs several times as much.
#[pyclass(frozen, module = "streamflow")]
pub(crate) struct Event {
    has_time: bool,
    /// The event's latest record.
    record: Mutex<Option<Arc<Record>>>,
}

struct Record {
    queue: Arc<Queue>,
    point: Point,
    time: Option<TimingEvent>,
}

impl Event {
    pub(crate) fn unrecorded(has_time: bool) -> Self {
        Self { has_time, record: Mutex::default() }
    }

    pub(crate) fn record_on(&self, py: Python<'_>, queue: &Arc<Queue>) -> PyResult<()> {
        let recorded = py.detach(|| {
            queue.with(|_, stream| {
                let time = self.has_time.then(|| stream.record_timing()).transpose()?;
                let (queue, point) = (queue.clone(), stream.record()?);
                Ok(Record { queue, point, time })
            })
        });
        let record = Some(Arc::new(recorded.or_raise()?));
        let before = {
            let mut latest = self.record.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::replace(&mut *latest, record)
        };
        // The earlier record is dropped without the lock: the drop of a stream's last record may drop another library's stream
        // object.
        drop(before);
        Ok(())
    }

    fn latest(&self) -> PyResult<Arc<Record>> {
        let latest = self.record.lock().unwrap_or_else(PoisonError::into_inner).clone();
        latest.ok_or_else(|| {
            PyValueError::new_err("the event was never recorded; call `event.record(stream)` first")
        })
    }

    /// The point of the event's latest record.
    pub(crate) fn point(&self) -> PyResult<Point> {
        Ok(self.latest()?.point)
    }
}

impl Record {
    fn is_reached(&self) -> Result<bool, streamflow::Error> {
        self.queue.platform().is_complete(self.point)
    }
}

#[pymethods]
impl Event {
    #[new]
    #[pyo3(signature = (*, timing = false))]
    fn new(timing: bool) -> Self {
        Self::unrecorded(timing)
    }

    /// Notes the place that the stream has reached: all work that was queued on it so far. Replaces the event's earlier record.
    ///
    /// Parameters
    /// ----------
    /// stream : Stream
    fn record(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = own)] stream: Py<Stream>,
    ) -> PyResult<()> {
        self.record_on(py, &stream.get().0)
    }

    /// Makes later work on a stream wait for the event. Does not block the calling thread.
    ///
    /// Parameters
    /// ----------
    /// stream : Stream
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If the event was never recorded.
    fn wait(&self, py: Python<'_>, #[pyo3(from_py_with = own)] stream: Py<Stream>) -> PyResult<()> {
        let (point, stream) = (self.point()?, stream.get());
        py.detach(|| stream.with(|_, stream| stream.wait(point))).or_raise()
    }

    /// Whether the work before the event is complete. Does not wait.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If the event was never recorded.
    fn query(&self, py: Python<'_>) -> PyResult<bool> {
        let record = self.latest()?;
        py.detach(|| record.is_reached()).or_raise()
    }

    /// Waits until the work before the event is complete. Ctrl+C ends the wait with `KeyboardInterrupt`.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If the event was never recorded.
    /// streamflow.Error
    ///     If earlier work has failed.
    fn synchronize(&self, py: Python<'_>) -> PyResult<()> {
        let record = self.latest()?;
        wait_until(py, || record.is_reached())
    }

    /// The time from this event to a later one, by the clock of the device. Waits until both are reached. On the
    /// simulator the time is simulated, and says nothing about a GPU.
    ///
    /// Parameters
    /// ----------
    /// end : Event
    ///     On any stream of the same device.
    ///
    /// Returns
    /// -------
    /// float
    ///     Milliseconds.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If an event was never recorded, or has no time.
    /// streamflow.Error
    ///     If the end was reached first, or is on another device.
    fn elapsed_time(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = own)] end: Py<Self>,
    ) -> PyResult<f64> {
        let (start, end) = (self.latest()?, end.get().latest()?);
        let (Some(from), Some(to)) = (&start.time, &end.time) else {
            return Err(PyValueError::new_err(
                "an event without a time can't be measured; make both by `Event(timing=True)` or \
                 `stream.record(timing=True)`",
            ));
        };
        wait_until(py, || Ok(start.is_reached()? && end.is_reached()?))?;
        let elapsed = py.detach(|| from.elapsed_blocking(to)).or_raise()?;
        Ok(elapsed.duration().as_secs_f64() * 1e3)
    }

    fn __repr__(&self) -> String {
        let record = self.record.lock().unwrap_or_else(PoisonError::into_inner);
        let time = if self.has_time { " with a time" } else { "" };
        match &*record {
            Some(record) => format!("<streamflow.Event{time}, {:?}>", record.point),
            None => format!("<streamflow.Event{time}, never recorded>"),
        }
    }
}

/// Returns the handle of another library's event, from the attribute that it has in PyTorch, CuPy or cuda.core. `None` for an
/// object that is no event.
///
/// # Errors
/// `ValueError` for an event of PyTorch that was never recorded, since it has no handle yet, and for a number below 0.
pub(crate) fn foreign_event(object: &Bound<'_, PyAny>) -> PyResult<Option<u64>> {
    if object.get_type().name()? != "Event" {
        return Ok(None);
    }
    for attribute in ["cuda_event", "ptr", "handle"] {
        let Some(value) = object.getattr_opt(attribute)? else { continue };
        let handle = match number(&value)? {
            Some(handle) => handle,
            // The handle of a cuda.core event is an object that converts to an int.
            None => match value.call_method0("__int__").and_then(|number| number.extract()) {
                Ok(handle) => handle,
                Err(_) => continue,
            },
        };
        return match u64::try_from(handle) {
            Ok(0) => Err(PyValueError::new_err(
                "the event was never recorded, and has no handle; record it first",
            )),
            // A number that is no event's handle is accepted here, and refused by the call that uses it.
            Ok(handle) => Ok(Some(handle)),
            Err(_) => Err(PyValueError::new_err(format!(
                "{handle} is the handle of no event; pass an event that its library has made"
            ))),
        };
    }
    Ok(None)
}
