//! A device: its properties and its memory.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use cudarc::driver::{CudaContext, sys};

use super::context::{bind, shared_context};
use super::error::check;
use super::optional::cuCtxRecordEvent;
use super::pool::Pool;
use super::probe::unavailable;
use crate::driver::{DeviceId, DeviceInfo, DriverResult};

/// The peers that can reach a device's pool, as a bit for each of the first 64 devices.
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

/// A logical device of a [`CudaDriver`](super::CudaDriver).
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
            waits_for_device: cuCtxRecordEvent.get().is_ok(),
            name,
        };
        let pool = Pool::create(id, context.clone())?;
        Ok(Self { context, info, pool, open_to: OpenTo::default() })
    }
}

/// An attribute of a device. The attributes that are queried here are never negative.
fn attribute(
    id: DeviceId,
    device: sys::CUdevice,
    what: sys::CUdevice_attribute,
) -> DriverResult<u32> {
    let mut value = 0;
    // SAFETY: CUDA writes one integer to `value`, `device` came from an open context.
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
    // SAFETY: CUDA writes one size to `bytes`, `device` came from an open context.
    let result = unsafe { sys::cuDeviceTotalMem_v2(&raw mut bytes, device) };
    check("cuDeviceTotalMem", id, result)?;
    Ok(bytes as u64)
}

/// The most and the least urgent stream priority of the bound context, in this order.
fn priorities(id: DeviceId) -> DriverResult<(i32, i32)> {
    let (mut least, mut greatest) = (0, 0);
    // SAFETY: CUDA writes one integer each to `least` and `greatest`.
    let result = unsafe { sys::cuCtxGetStreamPriorityRange(&raw mut least, &raw mut greatest) };
    check("cuCtxGetStreamPriorityRange", id, result)?;
    Ok((greatest, least))
}
