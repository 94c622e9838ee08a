//! The kernel module's state of a platform: the loaded kernels, and the reports of indices out of range.

use std::sync::{Arc, OnceLock};

use super::bounds::Report;
use super::loaded::LoadedKernels;
use crate::driver::{DeviceId, Driver, DriverResult, OwnedPinned};
use crate::error::Result;
use crate::stream::{Attached, StreamTable};

/// The kernel module's state of a platform. The state lives as long as the platform's streams, and is dropped
/// when all their work is complete, because kernels write the reports.
pub(super) struct KernelState {
    driver: Arc<dyn Driver>,
    /// By device.
    loaded: Box<[LoadedKernels]>,
    /// By device, made when first used.
    reports: Box<[OnceLock<SharedReport>]>,
}

impl KernelState {
    /// The platform's state, made when first used.
    pub(super) fn of(table: &StreamTable) -> &Self {
        table.attached(|driver| {
            let devices = 0..table.device_count();
            Self {
                driver: driver.clone(),
                loaded: devices.clone().map(|_| LoadedKernels::new()).collect(),
                reports: devices.map(|_| OnceLock::new()).collect(),
            }
        })
    }

    /// The kernels that are loaded on one of the platform's devices.
    pub(super) fn loaded(&self, device: DeviceId) -> &LoadedKernels {
        &self.loaded[device.index()]
    }

    /// The address of the report that kernels of a device write. The device must be bound.
    pub(super) fn report(&self, device: DeviceId) -> DriverResult<u64> {
        let slot = &self.reports[device.index()];
        if let Some(report) = slot.get() {
            return Ok(report.address());
        }
        let fresh = SharedReport::new(&self.driver, device)?;
        // If two threads make a report, the second one is freed; no kernel has its address.
        Ok(slot.get_or_init(|| fresh).address())
    }
}

impl Attached for KernelState {
    fn inspect(&self, device: DeviceId) -> Result<()> {
        let report = self.reports[device.index()].get();
        report.and_then(|report| report.get().take()).map_or(Ok(()), Err)
    }

    fn is_used_by(&self, device: DeviceId) -> bool {
        self.reports[device.index()].get().is_some()
    }
}

/// A report that host and device share.
struct SharedReport(OwnedPinned);

impl SharedReport {
    fn new(driver: &Arc<dyn Driver>, device: DeviceId) -> DriverResult<Self> {
        Ok(Self(OwnedPinned::zeroed(driver, device, size_of::<Report>() as u64)?))
    }

    fn address(&self) -> u64 {
        self.0.range().address
    }

    fn get(&self) -> &Report {
        // SAFETY: page-locked memory of this size, aligned, zeroed, and alive while it is borrowed. A
        // `Report` has only atomics, and host and device access it only through them.
        unsafe { &*(self.address() as *const Report) }
    }
}
