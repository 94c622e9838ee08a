//! The border between streamflow and candle, without a copy in either direction. This module holds the `unsafe` of the program.
//!
//! - In: candle has no tensor that borrows, so a [`Place`] is a tensor of candle that holds a view's memory in place of
//!   its own while the view lasts.
//! - Out: the memory of a tensor of candle becomes a tensor of streamflow, with the tensor of candle as its owner.

use std::cell::Cell;
use std::sync::Arc;

use candle_core::cuda_backend::CudaStorageSlice;
use candle_core::cuda_backend::cudarc::driver::{
    CudaSlice, CudaStream as Theirs, CudaView, DevicePtr, sys,
};
use candle_core::{
    CpuStorage, CudaDevice, CudaStorage, DType, Device, InplaceOp1, Layout, Storage,
    Tensor as Candles,
};
use streamflow::memory::{After, DeviceSlice, ForeignMemory};
use streamflow::prelude::*;
use streamflow::stream::{BorrowedStream, ExternalStream};

/// A tensor of candle that can have the memory of streamflow for a while.
pub struct Place {
    tensor: Candles,
    device: CudaDevice,
}

impl Place {
    /// A place for tensors of one shape.
    ///
    /// # Errors
    /// Those of candle; a device of candle that is no CUDA device.
    pub fn new(device: &Device, shape: &[usize]) -> Result<Self> {
        let tensor = Candles::zeros(shape, DType::F32, device)?;
        Ok(Self { tensor, device: device.as_cuda_device()?.clone() })
    }

    /// The stream of candle's device.
    pub fn stream(&self) -> Arc<Theirs> {
        self.device.cuda_stream()
    }

    /// Calls `work` with a tensor of candle that has the memory of the view. `work` keeps no clone and no view of the tensor.
    ///
    /// # Errors
    /// Those of `work`; a view of another length.
    pub fn with<R>(
        &mut self,
        view: &CudaView<'_, f32>,
        work: impl FnOnce(&Candles) -> Result<R>,
    ) -> Result<R> {
        let theirs = self.stream();
        let (address, _noted) = view.device_ptr(&theirs);
        self.exchanged(address, view.len(), work)
    }

    /// The same for memory that nothing orders before candle's work.
    ///
    /// # Errors
    /// Those of `work` and of streamflow; memory of another length.
    pub fn with_unordered<R>(
        &mut self,
        memory: &DeviceSlice<f32>,
        stream: &CudaStream,
        work: impl FnOnce(&Candles) -> Result<R>,
    ) -> Result<R> {
        let address = stream.read_raw(memory, |address| address)?;
        self.exchanged(address, memory.len(), work)
    }

    fn exchanged<R>(
        &mut self,
        address: u64,
        len: usize,
        work: impl FnOnce(&Candles) -> Result<R>,
    ) -> Result<R> {
        if len != self.tensor.elem_count() {
            return Err(Failure::msg(format!(
                "a view of {len} elements has no place in {:?}",
                self.tensor
            )));
        }
        // SAFETY: the memory has so many elements, and the callers keep it while candle has it. `Lent` does not free it.
        let slice = unsafe { self.stream().upgrade_device_ptr::<f32>(address, len) };
        let lent = Lent { tensor: &self.tensor, other: Other(Cell::new(Some(slice))) };
        lent.tensor.inplace_op1(&lent.other)?;
        work(lent.tensor)
    }
}

/// Memory that is in a tensor of candle until this is dropped.
struct Lent<'a> {
    tensor: &'a Candles,
    other: Other,
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        if let Err(error) = self.tensor.inplace_op1(&self.other) {
            eprintln!("a tensor of candle has kept memory that is not its own: {error}");
        }
        // Not freed: streamflow owns it.
        if let Some(slice) = self.other.0.take() {
            slice.leak();
        }
    }
}

/// Memory that a tensor of candle gets in exchange for its own.
struct Other(Cell<Option<CudaSlice<f32>>>);

impl InplaceOp1 for Other {
    fn name(&self) -> &'static str {
        "exchange"
    }

    fn cpu_fwd(&self, _: &mut CpuStorage, _: &Layout) -> candle_core::Result<()> {
        candle_core::bail!("a tensor on the host has no memory of CUDA")
    }

    fn cuda_fwd(&self, storage: &mut CudaStorage, _: &Layout) -> candle_core::Result<()> {
        match (&mut storage.slice, self.0.take()) {
            (CudaStorageSlice::F32(own), Some(other)) => {
                self.0.set(Some(std::mem::replace(own, other)));
                Ok(())
            }
            (_, other) => {
                self.0.set(other);
                candle_core::bail!("a tensor of another type has no memory of `f32`")
            }
        }
    }
}

/// The address of a tensor of candle.
///
/// # Errors
/// Those of candle; a tensor on the host, or with gaps.
pub fn address(tensor: &Candles) -> Result<u64> {
    let (storage, layout) = tensor.storage_and_layout();
    let Storage::Cuda(storage) = &*storage else {
        return Err(Failure::msg("a tensor on the host has no address on a device"));
    };
    if !layout.is_contiguous() {
        return Err(Failure::msg("a tensor with gaps is no memory of one length"));
    }
    let slice = storage.as_cuda_slice::<f32>()?;
    let (address, _noted) = slice.device_ptr(slice.stream());
    Ok(address + (size_of::<f32>() * layout.start_offset()) as u64)
}

/// A tensor of candle as a tensor of streamflow: nothing is copied. `after` is what comes after candle's work with it.
///
/// # Errors
/// Those of [`address`] and of streamflow.
pub fn adopt(platform: &Platform, tensor: Candles, after: After<'_>) -> Result<Tensor<f32>> {
    let (address, len) = (address(&tensor)?, tensor.elem_count());
    let bytes = (size_of::<f32>() * len) as u64;
    // SAFETY: candle's tensor keeps the memory, and has no clone. candle's work with it is queued, and initialises it.
    let memory = unsafe { ForeignMemory::new(device(0), address, bytes, tensor) };
    Ok(platform.adopt_tensor(memory, [len], after)?)
}

/// Makes candle's later tensors without events of cudarc.
pub fn without_events(device: &CudaDevice) {
    // SAFETY: each tensor of such a device is used on its stream alone, and streams are ordered by streamflow's events.
    unsafe { device.disable_event_tracking() };
}

/// The bytes that the device's default pool has given out: candle's tensors are there.
///
/// # Errors
/// Those of the driver.
pub fn used_by_candle(device: &CudaDevice) -> Result<u64> {
    device.cuda_stream().context().bind_to_thread()?;
    let (mut pool, mut used) = (std::ptr::null_mut(), 0_u64);
    let attribute = sys::CUmemPool_attribute::CU_MEMPOOL_ATTR_USED_MEM_CURRENT;
    // SAFETY: both functions write to variables of the types that they need.
    unsafe {
        sys::cuDeviceGetDefaultMemPool(&raw mut pool, 0).result()?;
        sys::cuMemPoolGetAttribute(pool, attribute, (&raw mut used).cast()).result()?;
    }
    Ok(used)
}

/// A stream of cudarc by its handle alone.
///
/// # Errors
/// Those of streamflow.
pub fn find(platform: &Platform, theirs: &Theirs) -> Result<()> {
    let handle = theirs.cu_stream() as u64;
    // SAFETY: the stream lives as long as this call.
    let borrowed = unsafe { BorrowedStream::find(&**platform.driver(), handle) }?;
    drop(platform.external_stream(borrowed)?);
    Ok(())
}

/// candle's stream as a stream of streamflow.
///
/// # Errors
/// Those of streamflow: for a default stream.
pub fn external(platform: &Platform, theirs: &Arc<Theirs>) -> Result<ExternalStream<'static>> {
    // SAFETY: the program captures nothing.
    Ok(unsafe { platform.external_cudarc(theirs) }?)
}
