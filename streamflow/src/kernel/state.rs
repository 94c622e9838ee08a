//! A platform's state of the kernel module: the loaded kernels, and the reports of indices out of range.

use std::sync::{Arc, OnceLock};

use super::bounds::Report;
use super::loaded::LoadedKernels;
use crate::driver::{DeviceId, Driver, DriverResult, OwnedPinned};
use crate::error::Result;
use crate::stream::{Attached, StreamTable};

/// A platform's loaded kernels and reports. The state lives as long as the platform's streams, and is dropped only when all their
/// work is complete, because kernels write the reports.
pub(super) struct KernelState {
    driver: Arc<dyn Driver>,
    /// The loaded kernels, by device.
    loaded: Box<[LoadedKernels]>,
    /// The reports, by device. Each is made at its first use.
    reports: Box<[OnceLock<SharedReport>]>,
}

impl KernelState {
    /// Returns the state of a platform. The first call for a platform makes it.
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

    /// The report of a device, if it was made.
    pub(super) fn made_report(&self, device: DeviceId) -> Option<u64> {
        self.reports[device.index()].get().map(SharedReport::address)
    }

    /// The address of the report that kernels of a device write. The caller must have made the device current on this thread.
    pub(super) fn report(&self, device: DeviceId) -> DriverResult<u64> {
        let slot = &self.reports[device.index()];
        if let Some(report) = slot.get() {
            return Ok(report.address());
        }
        let fresh = SharedReport::new(&self.driver, device)?;
        // If two threads make a report for a device at once, one of the two reports is freed: no kernel knows its address yet.
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

/// A report in memory that the host and the device share.
struct SharedReport(OwnedPinned);

impl SharedReport {
    fn new(driver: &Arc<dyn Driver>, device: DeviceId) -> DriverResult<Self> {
        Ok(Self(OwnedPinned::zeroed(driver, device, size_of::<Report>() as u64)?))
    }

    fn address(&self) -> u64 {
        self.0.range().address
    }

    fn get(&self) -> &Report {
        // SAFETY: this is page-locked memory of the right size, aligned, zeroed, and alive while it is borrowed. A
        // `Report` has only atomics, and the host and the device access it only through these.
        unsafe { &*(self.address() as *const Report) }
    }
}
