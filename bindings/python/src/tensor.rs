//! The class `Tensor`. The methods that Python calls are in `classes/tensor.rs`.

use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;
use streamflow::Platform;
use streamflow::memory::dlpack::{Abi, Consumer, DlDevice, DlExport};
use streamflow::platform::DeviceId;

use crate::error::OrRaise;
use crate::held::AnyTensor;
use crate::memory::Memory;
use crate::stream::Stream;

/// An array in device memory, the last dimension varying fastest. On the simulator, device memory is host memory. A tensor is
/// dense, unless it has the memory of an array with padding between its rows; its interfaces then have strides.
///
/// Other libraries use the memory without a copy: `numpy.from_dlpack(t)`, `torch.from_dlpack(t)`, `cupy.from_dlpack(t)`. The
/// stream of such a library waits for the work that has written the tensor, and the memory lives until the library has finished
/// with it. `empty`, `zeros`, `from_dlpack` and `as_tensor` make tensors.
#[pyclass(frozen, module = "streamflow")]
pub struct Tensor {
    memory: Arc<Memory>,
    /// The stream to which the tensor belongs.
    stream: Py<Stream>,
    /// Keeps the memory for a library that got its address by an interface without an owner. After this export is dropped, the
    /// memory is used again only after the work that the device has at that time.
    shown: Mutex<Option<DlExport>>,
}

impl Tensor {
    pub(crate) fn new(held: Box<dyn AnyTensor>, stream: Py<Stream>) -> Self {
        let memory = Memory::new(held, stream.get().0.clone());
        Self { memory, stream, shown: Mutex::new(None) }
    }

    pub(crate) fn memory(&self) -> &Memory {
        &self.memory
    }

    pub(crate) fn held(&self) -> &dyn AnyTensor {
        self.memory.held()
    }

    pub(crate) fn stream(&self) -> &Stream {
        self.stream.get()
    }

    /// Returns a new reference to the Python object of the stream.
    pub(crate) fn stream_object(&self, py: Python<'_>) -> Py<Stream> {
        self.stream.clone_ref(py)
    }

    pub(crate) fn platform(&self) -> &Platform {
        self.stream.get().platform()
    }

    pub(crate) fn device_id(&self) -> DeviceId {
        self.stream.get().device_id()
    }

    pub(crate) fn dl_device(&self) -> PyResult<DlDevice> {
        self.platform().dlpack_device(self.device_id()).or_raise()
    }

    pub(crate) fn is_on_gpu(&self) -> bool {
        self.platform().name() == "cuda"
    }

    /// Returns the address, for an interface without an owner. The memory lives as long as this object, and then until the work
    /// that the device has at that time is complete.
    pub(crate) fn show(&self, py: Python<'_>) -> PyResult<u64> {
        let exported = py.detach(|| {
            self.memory.settle()?;
            if !self.is_on_gpu() {
                return self.held().export(Abi::Versioned, Consumer::HostBlocking);
            }
            self.stream().with(|_, own| self.held().export(Abi::Versioned, Consumer::QueuesOn(own)))
        });
        let exported = exported.or_raise()?;
        let address = exported.address();
        let before = self.shown.lock().unwrap_or_else(PoisonError::into_inner).replace(exported);
        // The lock is released first, since the drop of the earlier export gives memory back.
        drop(before);
        Ok(address)
    }
}
