//! The memory of a tensor, and its uses by libraries whose work streamflow does not see.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use streamflow::memory::dlpack::{Abi, Consumer, DlDevice, DlExport};
use streamflow::{CudaStream, Error, Platform};

use crate::held::AnyTensor;
use crate::stream::Queue;
use crate::work_stream::{is_of, on_gpu, with_work_stream};

/// The memory of all tensors on GPUs, by the address of the `Memory`.
static TENSORS: Mutex<BTreeMap<usize, Weak<Memory>>> = Mutex::new(BTreeMap::new());

/// The memory of a tensor, and the stream that the tensor belongs to.
pub(crate) struct Memory {
    held: Box<dyn AnyTensor>,
    queue: Arc<Queue>,
    /// CUDA's number of the GPU that the memory is on. `None` on the simulator.
    gpu: Option<i32>,
    /// Whether a library has got the memory by the C exchange API. The library may then have queued work with the memory on the
    /// work stream.
    is_exchanged: AtomicBool,
    layout: OnceLock<Layout>,
}

/// The shape and strides of a tensor, in DLPack's terms.
pub(crate) struct Layout {
    pub(crate) shape: Box<[i64]>,
    /// The strides, in elements.
    pub(crate) strides: Box<[i64]>,
}

impl Memory {
    pub(crate) fn new(held: Box<dyn AnyTensor>, queue: Arc<Queue>) -> Arc<Self> {
        let on = queue.platform().dlpack_device(queue.device());
        let gpu = on.ok().filter(|on| on.kind == DlDevice::CUDA).map(|on| on.id);
        let (is_exchanged, layout) = (AtomicBool::new(false), OnceLock::new());
        let memory = Arc::new(Self { held, queue, gpu, is_exchanged, layout });
        if gpu.is_some() {
            register(&memory);
        }
        memory
    }

    /// Returns the tensor. A caller that uses the content, and not only the description, first calls [`settle`](Self::settle).
    pub(crate) fn held(&self) -> &dyn AnyTensor {
        &*self.held
    }

    /// Returns CUDA's number of the GPU that the memory is on. `None` on the simulator.
    pub(crate) fn gpu(&self) -> Option<i32> {
        self.gpu
    }

    pub(crate) fn platform(&self) -> &Platform {
        self.queue.platform()
    }

    /// Must be called before the content is used. Makes that use come after all work with the memory that libraries have queued
    /// on the work stream.
    pub(crate) fn settle(&self) -> Result<(), Error> {
        if self.is_exchanged.load(Ordering::Acquire) {
            self.with_work_stream(|stream| self.order_before(stream))
        } else {
            Ok(())
        }
    }

    /// Makes the work stream wait for the work that a use of the memory must come after. If the memory was exchanged, notes a use
    /// on the work stream.
    pub(crate) fn order_before(&self, work: &CudaStream) -> Result<(), Error> {
        if self.is_exchanged.load(Ordering::Acquire) {
            self.held.use_on(work).map(drop)
        } else {
            self.held.order_before(work)
        }
    }

    /// Calls a function with the work stream of the GPU that the memory is on.
    pub(crate) fn with_work_stream<R>(
        &self,
        call: impl FnOnce(&CudaStream) -> Result<R, Error>,
    ) -> Result<R, Error> {
        let on = self.queue.device();
        with_work_stream(self.platform(), on, self.gpu.unwrap_or_default(), call)
    }

    /// Passes the memory to a library that works on the work stream, or on the CPU. The returned structure owns the memory.
    pub(crate) fn exchange(&self) -> Result<DlExport, Error> {
        if self.gpu.is_none() {
            return self.held.export(Abi::Versioned, Consumer::HostBlocking);
        }
        self.on_work_stream(|stream| {
            let exported = self.held.export(Abi::Versioned, Consumer::QueuesOn(stream))?;
            self.held.use_on(stream)?;
            Ok(exported)
        })
    }

    /// Passes only the address to a library, in the order of `exchange`. The library uses the memory while it holds the object.
    pub(crate) fn lend(&self) -> Result<u64, Error> {
        let address = if self.gpu.is_some() {
            self.on_work_stream(|stream| self.held.use_on(stream))?
        } else {
            self.held.export(Abi::Versioned, Consumer::HostBlocking)?.address()
        };
        Ok(if self.held.len() == 0 { 0 } else { address })
    }

    fn on_work_stream<R>(
        &self,
        export: impl FnOnce(&CudaStream) -> Result<R, Error>,
    ) -> Result<R, Error> {
        // The flag is set before the export, so that a concurrent `settle` misses no work of the library.
        self.is_exchanged.store(true, Ordering::Release);
        self.with_work_stream(export)
    }

    pub(crate) fn layout(&self) -> &Layout {
        self.layout.get_or_init(|| {
            let shape: Box<[i64]> = self.held.shape().iter().map(|&dim| dim as i64).collect();
            let strides = self.held.strides().into_iter().map(|stride| stride as i64).collect();
            Layout { shape, strides }
        })
    }
}

impl Drop for Memory {
    /// Orders the free of the memory after the work that libraries have queued with the memory.
    fn drop(&mut self) {
        if self.gpu.is_some() {
            forget(self);
        }
        // If this fails, either the device is lost, or the free waits for the use that was noted when the memory was exchanged.
        let _settled = self.settle();
    }
}

fn tensors() -> MutexGuard<'static, BTreeMap<usize, Weak<Memory>>> {
    TENSORS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn key(memory: &Memory) -> usize {
    std::ptr::from_ref(memory).addr()
}

/// Adds the memory of a tensor on a GPU to `TENSORS`. The drop of the memory removes it.
fn register(memory: &Arc<Memory>) {
    tensors().insert(key(memory), Arc::downgrade(memory));
}

/// Removes memory that is being dropped from `TENSORS`.
fn forget(memory: &Memory) {
    tensors().remove(&key(memory));
}

/// Makes a GPU's work stream wait for all work that a use of any tensor of the GPU must come after. Returns the stream's handle.
pub(crate) fn after_everything(ordinal: i32) -> Result<u64, Error> {
    let work = on_gpu(ordinal)?;
    // The lock is released before the references are dropped: if one is the last, its drop locks `TENSORS` again.
    let mut tensors: Vec<_> = tensors().values().filter_map(Weak::upgrade).collect();
    tensors.retain(|memory| memory.gpu() == Some(ordinal));
    let is_near = |memory: &&Arc<Memory>| is_of(&work, memory.platform());
    let handle = work.with(|_, stream| {
        let mut near = tensors.iter().filter(is_near);
        near.try_for_each(|memory| memory.order_before(stream))?;
        Ok::<_, Error>(stream.raw().handle())
    })?;
    let mut far = tensors.iter().filter(|memory| !is_near(memory));
    far.try_for_each(|memory| memory.with_work_stream(|stream| memory.order_before(stream)))?;
    Ok(handle)
}
