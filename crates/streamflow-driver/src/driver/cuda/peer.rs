//! Direct access to the memory of another device.
//!
//! A peer copy is correct without direct access: CUDA then copies through the host. Where the hardware supports
//! direct copies, the memory pools of both devices are opened to each other just before the first copy, not
//! earlier: each allocation of an opened pool is mapped on both devices.
//!
//! `cuCtxEnablePeerAccess` is not enough: it does not apply to memory of pools (CUDA C++ Programming
//! Guide, *Stream ordered memory allocator*, *Device accessibility for multi-GPU support*).

use cudarc::driver::sys;

use super::CudaDriver;
use super::device::Device;
use super::error::check;
use crate::driver::{DeviceId, DriverResult};
use crate::log;

impl CudaDriver {
    /// Opens the pools of two devices to each other, where the hardware supports it, and returns their contexts.
    pub(super) fn connect_peers(
        &self,
        a: DeviceId,
        b: DeviceId,
    ) -> DriverResult<(sys::CUcontext, sys::CUcontext)> {
        let (one, other) = (self.device(a)?, self.device(b)?);
        open(one, a, other, b)?;
        open(other, b, one, a)?;
        Ok((one.context.cu_ctx(), other.context.cu_ctx()))
    }
}

/// Lets `peer` reach the pool of `owner`.
fn open(owner: &Device, owner_id: DeviceId, peer: &Device, peer_id: DeviceId) -> DriverResult<()> {
    let (device, peer_device) = (owner.context.cu_device(), peer.context.cu_device());
    // Two devices of the platform may be one GPU, which needs no access to itself.
    if owner.open_to.contains(peer_id) || device == peer_device {
        return Ok(());
    }
    let mut can = 0;
    // SAFETY: CUDA writes one integer to `can`; both devices are open.
    let result = unsafe { sys::cuDeviceCanAccessPeer(&raw mut can, peer_device, device) };
    check("cuDeviceCanAccessPeer", owner_id, result)?;
    if can != 0 {
        // SAFETY: all fields are integers, or enums with a value 0.
        let mut access: sys::CUmemAccessDesc = unsafe { std::mem::zeroed() };
        access.location.type_ = sys::CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE;
        access.location.id = peer_device;
        access.flags = sys::CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
        // SAFETY: the pool lives with the device, and one description is given.
        let result = unsafe { sys::cuMemPoolSetAccess(owner.pool.raw(), &raw const access, 1) };
        check("cuMemPoolSetAccess", owner_id, result)?;
    } else {
        log::write(move || {
            tracing::info!(%owner_id, %peer_id, "no direct access between two devices: copies go through the host");
        });
    }
    owner.open_to.insert(peer_id);
    Ok(())
}
