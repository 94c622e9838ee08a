//! Green contexts as a driver makes them: parts of a device's multiprocessors.

use super::DeviceId;

/// A live green context of the driver: some of a device's multiprocessors, for the streams that are made in it. A
/// green context lives as long as its driver.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct GreenContext {
    #[doc(hidden)]
    pub device: DeviceId,
    /// The context's index among the driver's green contexts.
    #[doc(hidden)]
    pub index: u32,
    #[doc(hidden)]
    pub multiprocessors: u32,
}

impl GreenContext {
    /// The device that the context is part of.
    pub const fn device(self) -> DeviceId {
        self.device
    }

    /// The number of multiprocessors of the context.
    pub const fn multiprocessors(self) -> u32 {
        self.multiprocessors
    }
}

/// Whether multiprocessors that can be scheduled together stay together when a device is divided.
/// Holoscan's `flags` of a `CudaGreenContextPool`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Coscheduling {
    /// Multiprocessors of one group stay together, so that kernels with thread block clusters can run in a
    /// partition. Holoscan's 0.
    #[default]
    Kept,
    /// Multiprocessors of one group may be separated, so partitions can be smaller. Holoscan's 1,
    /// `CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING`.
    Ignored,
}

/// The sizes into which a device's multiprocessors can be divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SmSizes {
    /// The device's multiprocessors.
    pub total: u32,
    /// The fewest multiprocessors of a partition.
    pub smallest: u32,
    /// A partition has `smallest` multiprocessors plus a multiple of this number.
    pub step: u32,
}

impl SmSizes {
    /// Whether a partition can have this many multiprocessors.
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
