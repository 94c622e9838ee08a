//! streamflow's memory pool on one device, and the stream on which the pool allocates.

use std::sync::Arc;

use cudarc::driver::{CudaContext, sys};

use super::context::bind_to_give_back;
use super::error::{STICKY, check, check_allocated, check_given_back};
use super::submit::stream_of;
use super::{handle_of, pointer_to};
use crate::driver::error::{first_error, report_in_drop};
use crate::driver::{DeviceId, DriverResult, MemoryRange, MemorySource, RawStream};

const ALLOCATE: &str = "cuMemAllocFromPoolAsync";

/// The memory of one device.
///
/// The device's default pool belongs to the whole process: other libraries set its attributes and trim it. This pool
/// keeps all memory until [`trim`](Pool::trim). With CUDA's default threshold of 0, each synchronisation may give back
/// memory to the system that the pool soon has to allocate again.
#[derive(Debug)]
pub(super) struct Pool {
    handle: u64,
    /// The stream on which the pool allocates. The field is dropped after `Pool::drop` has destroyed the pool.
    own: OwnStream,
}

/// A stream that only allocates and frees memory.
///
/// After one allocation on each of `n` streams, records and waits of these streams permanently cost more: on an H200
/// 6 times as much for `n` = 500. Memory that is allocated on another stream adds no cost if the host has waited for
/// that stream, and only then (`tests/benches/floor/pool_history.c` measures all cases). `synchronize` waits only for
/// an allocation and not for work of the program, unless the device is out of memory: then CUDA makes the allocation
/// come after frees that the device has not executed yet.
#[derive(Debug)]
struct OwnStream {
    context: Arc<CudaContext>,
    stream: RawStream,
}

impl OwnStream {
    fn create(device: DeviceId, context: Arc<CudaContext>) -> DriverResult<Self> {
        const CALL: &str = "cuStreamCreateWithPriority";
        let mut stream: sys::CUstream = std::ptr::null_mut();
        let flags = sys::CUstream_flags::CU_STREAM_NON_BLOCKING as u32;
        // SAFETY: CUDA writes one handle to `stream`.
        let result = unsafe { sys::cuStreamCreateWithPriority(&raw mut stream, flags, 0) };
        check(CALL, device, result)?;
        Ok(Self { context, stream: RawStream::new(device, handle_of(stream)) })
    }

    fn synchronize(&self) -> DriverResult<()> {
        // SAFETY: the stream lives as long as `self`.
        let result = unsafe { sys::cuStreamSynchronize(stream_of(self.stream)) };
        check("cuStreamSynchronize", self.stream.device(), result)
    }
}

impl Drop for OwnStream {
    fn drop(&mut self) {
        bind_to_give_back(&self.context, self.stream.device(), || {
            // SAFETY: this is the stream's only owner.
            let result = unsafe { sys::cuStreamDestroy_v2(stream_of(self.stream)) };
            let destroyed = check_given_back("cuStreamDestroy", self.stream.device(), result);
            report_in_drop("destroying the stream of allocations", destroyed);
        });
    }
}

impl Pool {
    pub(super) fn create(device: DeviceId, context: Arc<CudaContext>) -> DriverResult<Self> {
        // SAFETY: all fields are integers, enums with a value 0, or pointers that may be null; CUDA
        // requires zeros in all fields that are not set.
        let mut properties: sys::CUmemPoolProps = unsafe { std::mem::zeroed() };
        properties.allocType = sys::CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED;
        properties.location.type_ = sys::CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE;
        // A location needs the device's number, and a `CUdevice` is that number.
        properties.location.id = context.cu_device();

        let own = OwnStream::create(device, context)?;
        let mut pool: sys::CUmemoryPool = std::ptr::null_mut();
        // SAFETY: CUDA writes one handle to `pool`, the properties are complete.
        let result = unsafe { sys::cuMemPoolCreate(&raw mut pool, &raw const properties) };
        check("cuMemPoolCreate", device, result)?;
        let pool = Self { handle: handle_of(pool), own };

        let mut threshold = u64::MAX;
        // SAFETY: the pool was just made; this attribute is a 64-bit integer.
        let result = unsafe {
            sys::cuMemPoolSetAttribute(
                pool.raw(),
                sys::CUmemPool_attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD,
                (&raw mut threshold).cast(),
            )
        };
        check("cuMemPoolSetAttribute", device, result)?;
        Ok(pool)
    }

    /// CUDA's handle.
    pub(super) fn raw(&self) -> sys::CUmemoryPool {
        pointer_to(self.handle)
    }

    /// Allocates memory that work on `stream` may use from now on. The content is not initialised.
    ///
    /// # Safety
    /// `stream` is live, and on this pool's device. The device is bound.
    pub(super) unsafe fn allocate(
        &self,
        stream: RawStream,
        bytes: u64,
        source: MemorySource,
    ) -> DriverResult<MemoryRange> {
        match source {
            // A caller that allocates `Freed` memory passes a stream without work of the program, so the allocation may
            // be made on it.
            // SAFETY: the caller keeps the contract of this function.
            MemorySource::Freed => unsafe { self.allocate_on(stream, bytes) },
            MemorySource::Unused => {
                // SAFETY: the stream lives as long as `self`.
                let memory = unsafe { self.allocate_on(self.own.stream, bytes) }?;
                let allocated = self.own.synchronize();
                if allocated.is_err() {
                    // SAFETY: the memory was allocated on this stream, and nothing uses it.
                    let freed = unsafe { free(self.own.stream, memory) };
                    return first_error("freeing device memory", allocated, freed).map(|()| memory);
                }
                Ok(memory)
            }
        }
    }

    /// # Safety
    /// The contract of [`allocate`](Self::allocate).
    unsafe fn allocate_on(&self, stream: RawStream, bytes: u64) -> DriverResult<MemoryRange> {
        let mut address: sys::CUdeviceptr = 0;
        // SAFETY: CUDA writes one address to `address`; the pool lives as long as `self`, and the stream is
        // live and on its device.
        let result = unsafe {
            sys::cuMemAllocFromPoolAsync(
                &raw mut address,
                bytes as usize,
                self.raw(),
                stream_of(stream),
            )
        };
        check_allocated(ALLOCATE, self.device(), bytes, result)?;
        Ok(MemoryRange { address, bytes })
    }

    fn device(&self) -> DeviceId {
        self.own.stream.device()
    }

    /// Gives free memory beyond `keep` bytes back to the system.
    pub(super) fn trim(&self, keep: u64) -> DriverResult<()> {
        let keep = usize::try_from(keep).unwrap_or(usize::MAX);
        // SAFETY: the pool lives as long as `self`.
        let result = unsafe { sys::cuMemPoolTrimTo(self.raw(), keep) };
        check("cuMemPoolTrimTo", self.device(), result)
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        bind_to_give_back(&self.own.context, self.device(), || {
            // SAFETY: this is the pool's only owner. CUDA returns at once, and releases memory that is still
            // allocated when it is freed.
            let result = unsafe { sys::cuMemPoolDestroy(self.raw()) };
            let destroyed = check_given_back("cuMemPoolDestroy", self.device(), result);
            report_in_drop("destroying a memory pool", destroyed);
        });
    }
}

/// Frees memory of a pool, unless a sticky error makes that impossible.
///
/// # Safety
/// `stream` is live, the memory is freed once, and this point of `stream` comes after all uses of the memory.
pub(super) unsafe fn free(stream: RawStream, memory: MemoryRange) -> DriverResult<()> {
    if STICKY.get().is_some() {
        return Ok(());
    }
    // SAFETY: the caller keeps the contract of this function.
    let result = unsafe { sys::cuMemFreeAsync(memory.address, stream_of(stream)) };
    check_given_back("cuMemFreeAsync", stream.device(), result)
}
