//! The work stream of each GPU, on which libraries with DLPack's C exchange API queue their work.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;
use streamflow::memory::dlpack::DlDevice;
use streamflow::platform::DeviceId;
use streamflow::stream::BorrowedStream;
use streamflow::{CudaStream, Error, Platform, device};

use crate::error::OrRaise;
use crate::platform::default_inner;
use crate::stream::{Queue, Stream};

/// The work streams, by the device in DLPack's terms. They live as long as the process.
static STREAMS: Mutex<BTreeMap<(i32, i32), Arc<Queue>>> = Mutex::new(BTreeMap::new());

fn found(
    key: (i32, i32),
    make: impl FnOnce() -> Result<Arc<Queue>, Error>,
) -> Result<Arc<Queue>, Error> {
    let locked = || STREAMS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(found) = locked().get(&key) {
        return Ok(found.clone());
    }
    let made = make()?;
    Ok(locked().entry(key).or_insert(made).clone())
}

/// Returns the work stream of the GPU that has this number in CUDA, on the default platform.
pub(crate) fn on_gpu(ordinal: i32) -> Result<Arc<Queue>, Error> {
    found((DlDevice::CUDA, ordinal), || {
        let platform = default_inner()?;
        let devices = 0..platform.device_count() as u32;
        for index in devices {
            let DlDevice { kind, id } = platform.dlpack_device(device(index))?;
            if (kind, id) == (DlDevice::CUDA, ordinal) {
                return Queue::make(&platform, index);
            }
        }
        Err(Error::Exchange {
            what: format!("there is no work stream for CUDA device {ordinal}"),
            reason: format!(
                "the default platform has no such device: it is `{}`, with {} devices",
                platform.name(),
                platform.device_count()
            ),
            remedy: "pass a tensor of one of its devices, or make this device visible".to_owned(),
        })
    })
}

/// Returns the stream for imports on the default platform, if that is a simulator.
pub(crate) fn on_simulator() -> Result<Arc<Queue>, Error> {
    found((DlDevice::CPU, 0), || {
        let platform = default_inner()?;
        if platform.name() == "cuda" {
            return Err(Error::Exchange {
                what: "a tensor on the CPU can't be a tensor of a GPU".to_owned(),
                reason: "that needs a copy".to_owned(),
                remedy: "copy it to the GPU by `as_tensor(array)`, or use a stream of `Platform(\"host\")` and \
                         `from_dlpack`"
                    .to_owned(),
            });
        }
        Queue::make(&platform, 0)
    })
}

/// Whether the work stream belongs to this platform, which is so if both have the same driver.
pub(crate) fn is_of(work: &Queue, platform: &Platform) -> bool {
    Arc::as_ptr(work.platform().driver()).addr() == Arc::as_ptr(platform.driver()).addr()
}

/// Calls `call` with the work stream of a GPU, wrapped as a stream of `platform`. The GPU is device `on` of that platform, and
/// has the number `ordinal` in CUDA.
pub(crate) fn with_work_stream<R>(
    platform: &Platform,
    on: DeviceId,
    ordinal: i32,
    call: impl FnOnce(&CudaStream) -> Result<R, Error>,
) -> Result<R, Error> {
    let work = on_gpu(ordinal)?;
    if is_of(&work, platform) {
        return work.with(|_, stream| call(stream));
    }
    work.with(|_, stream| {
        // SAFETY: the stream lives as long as the process, is no default stream and is not being captured. The default platform
        // and this platform both use the primary context of the device.
        let borrowed = unsafe { BorrowedStream::new(on, stream.raw().handle()) };
        call(&*platform.external_stream(borrowed)?)
    })
}

/// The stream that libraries with DLPack's C exchange API use for work on tensors of a GPU. Use it to call a library
/// that works on this stream, which it gets from the tensor, and has no argument for a stream.
///
/// Parameters
/// ----------
/// device : int, optional
///     The index of the device on the default platform.
///
/// Returns
/// -------
/// Stream
///
/// Raises
/// ------
/// ValueError
///     If the platform has no such device.
#[pyfunction]
#[pyo3(signature = (device = 0))]
pub(crate) fn work_stream(py: Python<'_>, device: u32) -> PyResult<Stream> {
    let found = py.detach(|| {
        let platform = default_inner()?;
        match platform.dlpack_device(self::device(device))? {
            DlDevice { kind: DlDevice::CUDA, id } => on_gpu(id),
            _ => on_simulator(),
        }
    });
    Ok(Stream(found.or_raise()?))
}
