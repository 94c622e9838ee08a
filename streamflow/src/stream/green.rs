//! Green contexts: partitions of a device's multiprocessors, for operators that shall not slow each
//! other down.

use std::sync::Arc;

use crate::driver::{Coscheduling, DeviceId, DriverError, GreenContext};
use crate::error::{Error, Result};

/// Describes how a device's multiprocessors (SMs) are divided. Holoscan's `CudaGreenContextPool`.
///
/// A plain value, like [`CudaStreamPool`](crate::CudaStreamPool), whose streams it can be given with
/// [`on`](crate::CudaStreamPool::on). The partitions are made when the first pool on them is, and stay
/// while the platform lives; descriptions of one device, coscheduling and sizes are one division. Others
/// divide the whole device once more, so that their partitions *share* multiprocessors with these: a
/// program has one for each device. Which sizes a device can do is asked from it:
/// [`Platform::sm_sizes`](crate::Platform::sm_sizes). Multiprocessors that no partition gets are one more,
/// the [leftover](Self::leftover).
///
/// A partition isolates multiprocessors, and nothing else: caches, memory and copy engines are shared.
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
    /// On device 0, and not divided yet: all of it is the leftover.
    pub const fn new() -> Self {
        let device = DeviceId(0);
        Self { device, coscheduling: Coscheduling::Kept, sizes: &[], default: None, smallest: 1 }
    }

    /// Which device is divided. Holoscan's `dev_id`.
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

    /// Which partition is the default one. Holoscan's `default_context_index`; without it, as there,
    /// the last one: the leftover, if there is one.
    ///
    /// # Panics
    /// For a partition that is not there. In a `const` while compiling.
    pub const fn default_context_index(mut self, index: usize) -> Self {
        self.default = Some(index);
        self.check();
        self
    }

    /// What each size must be a multiple of, so that a mistake shows while compiling. Holoscan's
    /// `min_sm_size`. The device's own rule is checked as well, when the partitions are made.
    ///
    /// # Panics
    /// For 0, and for one that a size is no multiple of. In a `const` while compiling.
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

    /// Whether the device is divided in the same way. The other choices say what is meant by names.
    pub(super) fn divides_as(&self, other: &Self) -> bool {
        (self.device, self.coscheduling, self.sizes)
            == (other.device, other.coscheduling, other.sizes)
    }

    /// One of the partitions, from 0. Holoscan's `CudaGreenContext` with an `index`.
    ///
    /// # Panics
    /// For one that is not there. In a `const` while compiling.
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

    /// The multiprocessors that no partition got. Using it is an error where nothing is left over.
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
    /// The device that it is part of.
    pub const fn get_device(&self) -> DeviceId {
        self.pool.device
    }
}

/// A device's multiprocessors as they were divided. Made by
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

    /// The multiprocessors that no partition got, if there are some.
    pub fn leftover(&self) -> Option<GreenContext> {
        self.contexts.get(self.pool.sizes.len()).copied()
    }

    /// One of them.
    ///
    /// # Errors
    /// [`Error::GreenContexts`] for a leftover that is not there.
    pub(super) fn get(&self, context: &CudaGreenContext) -> Result<GreenContext> {
        let found = match (context.which, self.pool.default) {
            (Which::Partition(index), _) | (Which::Default, Some(index)) => {
                self.contexts.get(index).copied()
            }
            (Which::Leftover, _) => self.leftover(),
            (Which::Default, None) => self.contexts.last().copied(),
        };
        found.ok_or_else(|| {
            let problem = "nothing is left over; make a partition smaller, or name one of them";
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
