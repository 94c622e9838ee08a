//! Uses cudarc next to streamflow without the waits that streamflow would make.

use std::mem::ManuallyDrop;
use std::sync::Arc;

use streamflow::cudarc::driver::{
    CudaContext, CudaSlice, CudaStream as Theirs, DevicePtr, DriverError, sys,
};
use streamflow::memory::{After, DeviceSlice, ForeignMemory};
use streamflow::prelude::*;
use streamflow::stream::{CudarcStream, ExternalStream};

/// Returns memory of streamflow as a slice of cudarc that nothing orders.
///
/// # Errors
/// Those of streamflow.
pub fn unseen(
    stream: &CudaStream,
    memory: &DeviceSlice<f32>,
    theirs: &Arc<Theirs>,
) -> Result<ManuallyDrop<CudaSlice<f32>>> {
    let address = stream.read_raw(memory, |address| address)?;
    // SAFETY: the memory is alive, and the slice does not free it. Races are the subject of the tests.
    Ok(ManuallyDrop::new(unsafe { theirs.upgrade_device_ptr(address, memory.len()) }))
}

/// Returns a slice of cudarc as a tensor, without a wait for the slice's work.
///
/// # Errors
/// Those of streamflow.
pub fn adopted_at_once(platform: &Platform, slice: CudaSlice<f32>) -> Result<Tensor<f32>> {
    let (len, theirs) = (slice.len(), slice.stream().clone());
    let address = slice.leak();
    // SAFETY: the memory is never freed. Races are the subject of the tests.
    let memory = unsafe { ForeignMemory::new(device(0), address, (len * 4) as u64, theirs) };
    Ok(platform.adopt_tensor(memory, [len], After::Complete)?)
}

/// Returns the memory of a slice as a tensor that does not own the slice. So the slice may be dropped before the tensor.
///
/// # Errors
/// Those of streamflow.
pub fn adopted_without_owner(platform: &Platform, slice: &CudaSlice<f32>) -> Result<Tensor<f32>> {
    let (address, noted) = slice.device_ptr(slice.stream());
    drop(noted);
    // SAFETY: the tests are about the race between the tensor and the next user of the slice's memory.
    let memory = unsafe { ForeignMemory::new(device(0), address, slice.num_bytes() as u64, ()) };
    Ok(platform.adopt_tensor(memory, [slice.len()], After::Complete)?)
}

/// Returns a stream of streamflow as a stream of cudarc.
///
/// # Errors
/// Those of streamflow.
pub fn for_cudarc<'s>(
    stream: &'s CudaStream,
    context: &Arc<CudaContext>,
) -> Result<CudarcStream<'s>> {
    // SAFETY: the tests use each slice on one stream, or order its uses.
    Ok(unsafe { stream.to_cudarc(context) }?)
}

/// Returns a stream of cudarc as an external stream of streamflow.
///
/// # Errors
/// Those of streamflow.
pub fn external(platform: &Platform, theirs: &Arc<Theirs>) -> Result<ExternalStream<'static>> {
    // SAFETY: the tests capture nothing on a stream while it is borrowed as an external stream.
    Ok(unsafe { platform.external_cudarc(theirs) }?)
}

/// Returns a context of cudarc with event tracking off, so that it records no uses of slices.
///
/// # Errors
/// Those of cudarc.
pub fn untracked() -> Result<Arc<CudaContext>, DriverError> {
    let context = CudaContext::new(0)?;
    // SAFETY: the tests order all uses of slices, or use each on one stream.
    unsafe { context.disable_event_tracking() };
    Ok(context)
}

/// Returns how many bytes of the device's default pool are in use: cudarc's slices are allocated there.
///
/// # Errors
/// Those of CUDA.
pub fn used_by_cudarc(context: &CudaContext) -> Result<u64, DriverError> {
    let attribute = sys::CUmemPool_attribute::CU_MEMPOOL_ATTR_USED_MEM_CURRENT;
    let (mut pool, mut used) = (std::ptr::null_mut(), 0_u64);
    context.bind_to_thread()?;
    // SAFETY: the pointers are to variables of the types that CUDA documents for these calls.
    unsafe {
        sys::cuDeviceGetDefaultMemPool(&raw mut pool, context.cu_device()).result()?;
        sys::cuMemPoolGetAttribute(pool, attribute, (&raw mut used).cast()).result()?;
    }
    Ok(used)
}
