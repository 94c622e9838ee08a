//! cudarc beside streamflow, without the order that streamflow makes.

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

/// A slice of cudarc as a tensor that comes after nothing.
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

/// Memory of a slice as a tensor. The slice may be dropped before the tensor.
///
/// # Errors
/// Those of streamflow.
pub fn adopted_without_owner(platform: &Platform, slice: &CudaSlice<f32>) -> Result<Tensor<f32>> {
    let (address, noted) = slice.device_ptr(slice.stream());
    drop(noted);
    // SAFETY: a race with what uses the memory after the slice is the subject of the test.
    let memory = unsafe { ForeignMemory::new(device(0), address, slice.num_bytes() as u64, ()) };
    Ok(platform.adopt_tensor(memory, [slice.len()], After::Complete)?)
}

/// A stream of streamflow for cudarc.
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

/// A stream of cudarc for streamflow.
///
/// # Errors
/// Those of streamflow.
pub fn external(platform: &Platform, theirs: &Arc<Theirs>) -> Result<ExternalStream<'static>> {
    // SAFETY: the tests capture nothing on a stream while it is an external one.
    Ok(unsafe { platform.external_cudarc(theirs) }?)
}

/// A context that notes no uses of slices.
///
/// # Errors
/// Those of cudarc.
pub fn untracked() -> Result<Arc<CudaContext>, DriverError> {
    let context = CudaContext::new(0)?;
    // SAFETY: the tests order all uses of slices, or use each on one stream.
    unsafe { context.disable_event_tracking() };
    Ok(context)
}

/// The bytes that cudarc's slices have, in the default pool of the context's device.
///
/// # Errors
/// Those of CUDA.
pub fn used_by_cudarc(context: &CudaContext) -> Result<u64, DriverError> {
    let attribute = sys::CUmemPool_attribute::CU_MEMPOOL_ATTR_USED_MEM_CURRENT;
    let (mut pool, mut used) = (std::ptr::null_mut(), 0_u64);
    context.bind_to_thread()?;
    // SAFETY: the places are of the types that CUDA documents for these calls.
    unsafe {
        sys::cuDeviceGetDefaultMemPool(&raw mut pool, context.cu_device()).result()?;
        sys::cuMemPoolGetAttribute(pool, attribute, (&raw mut used).cast()).result()?;
    }
    Ok(used)
}
