//! One device: its context, which the process shares, and streamflow's own memory pool.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use cudarc::driver::{CudaContext, sys};

use super::error::{STICKY, check, check_given_back, code_of};
use super::probe::{cannot_start, unavailable};
use super::{handle_of, pointer_to};
use crate::driver::current;
use crate::driver::error::report_in_drop;
use crate::driver::{DeviceId, DeviceInfo, DriverResult};

/// The contexts of this process, by CUDA's own device number.
///
/// cudarc keeps counters and switches in each `CudaContext` object, also when two objects are for the same
/// primary context. One object per device keeps these consistent. No context is ever removed, so the
/// primary contexts live as long as the process.
static CONTEXTS: Mutex<BTreeMap<usize, Arc<CudaContext>>> = Mutex::new(BTreeMap::new());

/// The process's context of a device.
fn shared_context(id: DeviceId, ordinal: usize) -> DriverResult<Arc<CudaContext>> {
    let mut contexts = CONTEXTS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(context) = contexts.get(&ordinal) {
        return Ok(context.clone());
    }
    let context = CudaContext::new(ordinal)
        .map_err(|error| cannot_start("opening the device", id, error.0))?;
    // SAFETY: no slice of cudarc's exists on this context yet. streamflow does the ordering: cudarc's
    // tracking keeps one read event per slice, so it loses the slower of two readers. The documentation of
    // `CudaDriver::context` says so to users who take the context.
    unsafe { context.disable_event_tracking() };
    contexts.insert(ordinal, context.clone());
    Ok(context)
}

/// The peers that a device's pool is open to; a bit for each of the first 64 devices.
#[derive(Debug, Default)]
pub(super) struct OpenTo(AtomicU64);

impl OpenTo {
    fn bit(peer: DeviceId) -> u64 {
        1_u64.checked_shl(peer.0).unwrap_or(0)
    }

    pub(super) fn contains(&self, peer: DeviceId) -> bool {
        self.0.load(Ordering::Acquire) & Self::bit(peer) != 0
    }

    pub(super) fn insert(&self, peer: DeviceId) {
        self.0.fetch_or(Self::bit(peer), Ordering::AcqRel);
    }
}

/// One logical device of a [`CudaDriver`](super::CudaDriver).
#[derive(Debug)]
pub(super) struct Device {
    pub(super) context: Arc<CudaContext>,
    pub(super) info: DeviceInfo,
    pub(super) pool: Pool,
    pub(super) open_to: OpenTo,
}

impl Device {
    /// Opens CUDA's device `ordinal` as `id`, and leaves its context bound.
    pub(super) fn open(id: DeviceId, ordinal: usize) -> DriverResult<Self> {
        use sys::CUdevice_attribute as Ask;

        let context = shared_context(id, ordinal)?;
        bind(&context, id)?;
        let device = context.cu_device();
        let attribute = |what| attribute(id, device, what);

        let name = device_name(id, device)?;
        if attribute(Ask::CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED)? == 0 {
            return Err(unavailable(
                &format!("CUDA device {ordinal} ({name}) has no stream-ordered memory pools"),
                "choose another device, or a driver mode that has them (on Windows, WDDM with a \
                 recent driver, or TCC)",
            ));
        }
        let info = DeviceInfo {
            ordinal: Some(ordinal as u32),
            compute_capability: (
                attribute(Ask::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
                attribute(Ask::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
            ),
            multiprocessors: attribute(Ask::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
            total_memory: total_memory(id, device)?,
            priorities: priorities(id)?,
            max_shared_bytes: attribute(
                Ask::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
            )?,
            is_simulated: false,
            name,
        };
        let pool = Pool::create(id, context.clone())?;
        Ok(Self { context, info, pool, open_to: OpenTo::default() })
    }
}

/// Whether a context is current on this thread; not if the driver can't say.
#[inline]
pub(super) fn is_current(context: &CudaContext) -> bool {
    let mut current: sys::CUcontext = std::ptr::null_mut();
    // SAFETY: `current` is a place for one handle.
    let result = unsafe { sys::cuCtxGetCurrent(&raw mut current) };
    code_of(result) == 0 && current == context.cu_ctx()
}

/// Makes a context current on this thread.
///
/// A driver that is shutting down is not an error here. The next call returns that error or, if it only
/// frees something, has nothing left to do.
pub(super) fn bind(context: &CudaContext, device: DeviceId) -> DriverResult<()> {
    // Fast path: the context is bound already. The query costs half of binding it.
    if is_current(context) {
        return Ok(());
    }
    current::doubt();
    // SAFETY: the registry keeps the context for the life of the process.
    let result = unsafe { sys::cuCtxSetCurrent(context.cu_ctx()) };
    check_given_back("cuCtxSetCurrent", device, result)
}

/// Gives something back in a drop, with its context bound.
///
/// If that fails, it is tried all the same: the handle names its context, and nothing else would give it back.
pub(super) fn bind_to_give_back(context: &CudaContext, device: DeviceId, give_back: impl FnOnce()) {
    if STICKY.get().is_some() {
        return;
    }
    report_in_drop("binding a device", bind(context, device));
    if STICKY.get().is_none() {
        give_back();
    }
}

/// An attribute of a device. The attributes that are queried here are never negative.
fn attribute(
    id: DeviceId,
    device: sys::CUdevice,
    what: sys::CUdevice_attribute,
) -> DriverResult<u32> {
    let mut value = 0;
    // SAFETY: `value` is a place for one integer, `device` came from an open context.
    let result = unsafe { sys::cuDeviceGetAttribute(&raw mut value, what, device) };
    check("cuDeviceGetAttribute", id, result)?;
    Ok(u32::try_from(value).unwrap_or(0))
}

fn device_name(id: DeviceId, device: sys::CUdevice) -> DriverResult<String> {
    let mut bytes = [0_u8; 256];
    // SAFETY: the driver may write 255 bytes, so the last byte stays NUL.
    let result = unsafe { sys::cuDeviceGetName(bytes.as_mut_ptr().cast(), 255, device) };
    check("cuDeviceGetName", id, result)?;
    let name = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
    Ok(String::from_utf8_lossy(name).into_owned())
}

fn total_memory(id: DeviceId, device: sys::CUdevice) -> DriverResult<u64> {
    let mut bytes = 0_usize;
    // SAFETY: `bytes` is a place for one size, `device` came from an open context.
    let result = unsafe { sys::cuDeviceTotalMem_v2(&raw mut bytes, device) };
    check("cuDeviceTotalMem", id, result)?;
    Ok(bytes as u64)
}

/// The most and the least urgent stream priority of the bound context, in this order.
fn priorities(id: DeviceId) -> DriverResult<(i32, i32)> {
    let (mut least, mut greatest) = (0, 0);
    // SAFETY: both are places for one integer.
    let result = unsafe { sys::cuCtxGetStreamPriorityRange(&raw mut least, &raw mut greatest) };
    check("cuCtxGetStreamPriorityRange", id, result)?;
    Ok((greatest, least))
}

/// streamflow's memory pool on one device.
///
/// The device's default pool belongs to the whole process: other libraries set its attributes and
/// trim it. This pool keeps all memory until [`trim`](Pool::trim). With CUDA's default threshold of 0
/// each synchronisation may give memory back to the system that is soon allocated again.
#[derive(Debug)]
pub(super) struct Pool {
    context: Arc<CudaContext>,
    device: DeviceId,
    handle: u64,
}

impl Pool {
    fn create(device: DeviceId, context: Arc<CudaContext>) -> DriverResult<Self> {
        // SAFETY: all fields are integers, enums with a value 0, or pointers that may be null; CUDA
        // requires zeros in all fields that are not set.
        let mut properties: sys::CUmemPoolProps = unsafe { std::mem::zeroed() };
        properties.allocType = sys::CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED;
        properties.location.type_ = sys::CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE;
        // A location takes the device's number, and a `CUdevice` is that number.
        properties.location.id = context.cu_device();

        let mut pool: sys::CUmemoryPool = std::ptr::null_mut();
        // SAFETY: `pool` is a place for one handle, the properties are complete.
        let result = unsafe { sys::cuMemPoolCreate(&raw mut pool, &raw const properties) };
        check("cuMemPoolCreate", device, result)?;
        let pool = Self { context, device, handle: handle_of(pool) };

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

    /// Gives free memory beyond `keep` bytes back to the system.
    pub(super) fn trim(&self, keep: u64) -> DriverResult<()> {
        let keep = usize::try_from(keep).unwrap_or(usize::MAX);
        // SAFETY: the pool lives as long as `self`.
        let result = unsafe { sys::cuMemPoolTrimTo(self.raw(), keep) };
        check("cuMemPoolTrimTo", self.device, result)
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        bind_to_give_back(&self.context, self.device, || {
            // SAFETY: this is the pool's only owner. CUDA returns at once, and releases memory that is still
            // allocated when it is freed.
            let result = unsafe { sys::cuMemPoolDestroy(self.raw()) };
            let destroyed = check_given_back("cuMemPoolDestroy", self.device, result);
            report_in_drop("destroying a memory pool", destroyed);
        });
    }
}

/// Waits for all work of the bound context.
pub(super) fn synchronize(device: DeviceId) -> DriverResult<()> {
    // SAFETY: takes no arguments and concerns the bound context alone.
    let result = unsafe { sys::cuCtxSynchronize() };
    check_given_back("cuCtxSynchronize", device, result)
}
