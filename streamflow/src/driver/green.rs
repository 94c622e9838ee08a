//! Green contexts as they cross the seam: parts of a device's multiprocessors.

use super::DeviceId;

/// A green context as the driver knows it: some of a device's multiprocessors, for the streams that are
/// made in it. It lives as long as its driver.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct GreenContext {
    pub(crate) device: DeviceId,
    /// Which of the driver's.
    pub(crate) index: u32,
    pub(crate) multiprocessors: u32,
}

impl GreenContext {
    /// The device that it is part of.
    pub const fn device(self) -> DeviceId {
        self.device
    }

    /// How many multiprocessors it has.
    pub const fn multiprocessors(self) -> u32 {
        self.multiprocessors
    }
}

/// Whether multiprocessors that can be scheduled together stay together when a device is divided.
/// Holoscan's `flags` of a `CudaGreenContextPool`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Coscheduling {
    /// They do, so that kernels with thread block clusters can run in a partition. Holoscan's 0.
    #[default]
    Kept,
    /// They need not: partitions can be smaller. Holoscan's 1,
    /// `CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING`.
    Ignored,
}

/// Into which sizes a device's multiprocessors can be divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SmSizes {
    /// All that the device has.
    pub total: u32,
    /// The fewest that a partition can have.
    pub smallest: u32,
    /// A partition has the fewest, or a multiple of this many more.
    pub step: u32,
}

impl SmSizes {
    /// Whether a partition can have this many.
    pub const fn is_legal(&self, multiprocessors: u32) -> bool {
        multiprocessors >= self.smallest
            && multiprocessors <= self.total
            && (multiprocessors - self.smallest).is_multiple_of(self.step)
    }

    /// All sizes that a partition can have.
    pub fn legal(&self) -> impl Iterator<Item = u32> + use<> {
        (self.smallest..=self.total).step_by(self.step.max(1) as usize)
    }
}
