//! Green contexts: partitions of a device's multiprocessors, for operators that must not slow each
//! other down.

use std::sync::Arc;

use crate::driver::{Coscheduling, DeviceId, DriverError, GreenContext};
use crate::error::{Error, Result};

/// Describes how a device's multiprocessors (SMs) are divided. Holoscan's `CudaGreenContextPool`.
///
/// It is a plain value, like [`CudaStreamPool`](crate::CudaStreamPool), whose streams are placed on a partition with
/// [`on`](crate::CudaStreamPool::on). The partitions are made together with the first pool on them, and stay while the
/// platform lives. Descriptions with the same device, coscheduling and sizes are one division. A different description
/// divides the whole device again, so that its partitions *share* multiprocessors with the first ones: use one
/// description for each device. [`Platform::sm_sizes`](crate::Platform::sm_sizes) returns the sizes that a device
/// supports. Multiprocessors that no partition gets form one more partition, the [leftover](Self::leftover).
///
/// A partition isolates multiprocessors only: caches, memory and copy engines are shared.
///
/// ```
/// use streamflow::{CudaGreenContextPool, CudaStreamPool};
///
/// const GREEN: CudaGreenContextPool = CudaGreenContextPool::new().sms_per_partition(&[8, 16]);
/// const FAST: CudaStreamPool = CudaStreamPool::new().on(GREEN.context(1)).max_size(2);
/// ```
///
/// A partition that is not there does not compile:
/// ```compile_fail
/// # use streamflow::{CudaGreenContext, CudaGreenContextPool};
/// const GREEN: CudaGreenContextPool = CudaGreenContextPool::new().sms_per_partition(&[8, 16]);
/// const THIRD: CudaGreenContext = GREEN.context(2);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CudaGreenContextPool {
    pub(super) device: DeviceId,
    pub(super) coscheduling: Coscheduling,
    pub(super) sizes: &'static [u32],
    default: Option<usize>,
    smallest: u32,
}

impl CudaGreenContextPool {
    /// Device 0 without partitions: all of it is the leftover.
    pub const fn new() -> Self {
        let device = DeviceId(0);
        Self { device, coscheduling: Coscheduling::Kept, sizes: &[], default: None, smallest: 1 }
    }

    /// The device to divide. Holoscan's `dev_id`.
    pub const fn device(mut self, device: DeviceId) -> Self {
        self.device = device;
        self
    }

    /// Whether multiprocessors that can be scheduled together stay together. Holoscan's `flags`.
    pub const fn coscheduling(mut self, coscheduling: Coscheduling) -> Self {
        self.coscheduling = coscheduling;
        self
    }

    /// How many multiprocessors each partition has, in order. Holoscan's `sms_per_partition`, and its
    /// `num_partitions`, which is how many there are.
    ///
    /// # Panics
    /// For a size that [`min_sm_size`](Self::min_sm_size) forbids. In a `const` while compiling.
    pub const fn sms_per_partition(mut self, sizes: &'static [u32]) -> Self {
        self.sizes = sizes;
        self.check();
        self
    }

    /// Which partition is the default one. Holoscan's `default_context_index`. Without this call it is the last one, as
    /// in Holoscan: the leftover, if there is one.
    ///
    /// # Panics
    /// For a partition that does not exist. In a `const` while compiling.
    pub const fn default_context_index(mut self, index: usize) -> Self {
        self.default = Some(index);
        self.check();
        self
    }

    /// A number that each size must be a multiple of, so that a mistake is an error while compiling. Holoscan's
    /// `min_sm_size`. The device's own rule is checked as well, when the partitions are made.
    ///
    /// # Panics
    /// For 0, and if a size is not a multiple of it. In a `const` while compiling.
    pub const fn min_sm_size(mut self, multiprocessors: u32) -> Self {
        assert!(multiprocessors > 0, "`min_sm_size` is at least 1");
        self.smallest = multiprocessors;
        self.check();
        self
    }

    #[track_caller]
    const fn check(&self) {
        let mut i = 0;
        while i < self.sizes.len() {
            assert!(self.sizes[i] > 0, "a partition of a device has at least one multiprocessor");
            assert!(
                self.sizes[i].is_multiple_of(self.smallest),
                "the size of each partition is a multiple of `min_sm_size`; round it up"
            );
            i += 1;
        }
        if let Some(index) = self.default {
            assert!(
                index < self.sizes.len() || self.sizes.is_empty(),
                "`default_context_index` names a partition that is not there; name one of `sms_per_partition`"
            );
        }
    }

    /// Whether both descriptions divide the device in the same way. The other fields don't matter for that.
    pub(super) fn divides_as(&self, other: &Self) -> bool {
        (self.device, self.coscheduling, self.sizes)
            == (other.device, other.coscheduling, other.sizes)
    }

    /// One of the partitions, numbered from 0. Holoscan's `CudaGreenContext` with an `index`.
    ///
    /// # Panics
    /// For a partition that does not exist. In a `const` while compiling.
    #[track_caller]
    pub const fn context(self, index: usize) -> CudaGreenContext {
        assert!(
            index < self.sizes.len(),
            "a green context names a partition that is not there; name one of `sms_per_partition`"
        );
        CudaGreenContext { pool: self, which: Which::Partition(index) }
    }

    /// The default partition. Holoscan's `CudaGreenContext` without an `index`.
    ///
    /// # Panics
    /// For a [`default_context_index`](Self::default_context_index) of a pool without partitions. In a
    /// `const` while compiling:
    /// ```compile_fail
    /// # use streamflow::{CudaGreenContext, CudaGreenContextPool};
    /// const GREEN: CudaGreenContextPool = CudaGreenContextPool::new().default_context_index(0);
    /// const DEFAULT: CudaGreenContext = GREEN.default_context();
    /// ```
    #[track_caller]
    pub const fn default_context(self) -> CudaGreenContext {
        assert!(
            self.default.is_none() || !self.sizes.is_empty(),
            "`default_context_index` names a partition, but there are none; give their sizes with `sms_per_partition`"
        );
        CudaGreenContext { pool: self, which: Which::Default }
    }

    /// The multiprocessors that no partition got. Using it is an error if the partitions use all of them.
    pub const fn leftover(self) -> CudaGreenContext {
        CudaGreenContext { pool: self, which: Which::Leftover }
    }
}

impl Default for CudaGreenContextPool {
    fn default() -> Self {
        Self::new()
    }
}

/// One partition of a [`CudaGreenContextPool`]. Holoscan's `CudaGreenContext`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CudaGreenContext {
    pub(super) pool: CudaGreenContextPool,
    which: Which,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Which {
    Partition(usize),
    Leftover,
    Default,
}

impl CudaGreenContext {
    /// The device of the partition.
    pub const fn get_device(&self) -> DeviceId {
        self.pool.device
    }
}

/// The partitions of a device, as the driver made them. Made by
/// [`Platform::green_contexts`](crate::Platform::green_contexts).
#[derive(Debug, Clone)]
pub struct GreenContexts {
    pub(super) pool: CudaGreenContextPool,
    /// The partitions, and then the leftover, if there is one.
    pub(super) contexts: Arc<[GreenContext]>,
}

impl GreenContexts {
    /// The partitions, in order, without the leftover.
    pub fn partitions(&self) -> &[GreenContext] {
        &self.contexts[..self.pool.sizes.len()]
    }

    /// The multiprocessors that no partition got, if there are any.
    pub fn leftover(&self) -> Option<GreenContext> {
        self.contexts.get(self.pool.sizes.len()).copied()
    }

    /// The green context of a description.
    ///
    /// # Errors
    /// [`Error::GreenContexts`] for a leftover that does not exist.
    pub(super) fn get(&self, context: &CudaGreenContext) -> Result<GreenContext> {
        let found = match (context.which, self.pool.default) {
            (Which::Partition(index), _) | (Which::Default, Some(index)) => {
                self.contexts.get(index).copied()
            }
            (Which::Leftover, _) => self.leftover(),
            (Which::Default, None) => self.contexts.last().copied(),
        };
        found.ok_or_else(|| {
            let problem =
                "they leave no leftover; make a partition smaller, or use one of the partitions";
            refused(&self.pool, problem.to_owned(), None)
        })
    }
}

pub(super) fn refused(
    pool: &CudaGreenContextPool,
    problem: String,
    cause: Option<DriverError>,
) -> Error {
    let cause = cause.map(Box::new);
    Error::GreenContexts { device: pool.device, asked: pool.sizes.to_vec(), problem, cause }
}
