//! Green contexts: partitions of a device's multiprocessors. Operators on different partitions don't take multiprocessors from
//! each other.

use std::fmt;
use std::sync::Arc;

use crate::driver::{Coscheduling, DeviceId, DriverError, GreenContext};
use crate::error::const_text::Text;
use crate::error::{Error, Result};

/// Describes how a device's multiprocessors (SMs) are divided, without dividing them. Holoscan's name is also
/// `CudaGreenContextPool`. The partitions themselves are [`GreenContexts`].
///
/// A description is a plain value, like a [`CudaStreamPool`](crate::CudaStreamPool), whose method
/// [`on`](crate::CudaStreamPool::on) puts the streams of a pool on a partition. The partitions are made together with the first
/// pool on one of them, and exist as long as the platform. Descriptions with the same device, coscheduling and sizes mean the
/// same partitions. A different description divides the whole device again: its partitions *share* multiprocessors with the first
/// ones, so use one description for each device. [`Platform::sm_sizes`](crate::Platform::sm_sizes) returns the sizes that a
/// device supports. Multiprocessors that are in no partition form one more partition, the [leftover](Self::leftover).
///
/// A partition isolates multiprocessors only. Caches, memory and copy engines are shared by all partitions.
///
/// ```
/// use streamflow::CudaStreamPool;
/// use streamflow::stream::CudaGreenContextPool;
///
/// const GREEN: CudaGreenContextPool = CudaGreenContextPool::new().sms_per_partition(&[8, 16]);
/// const FAST: CudaStreamPool = CudaStreamPool::new().on(GREEN.context(1)).max_size(2);
/// ```
///
/// # Mistakes
/// The methods accept any values, since these may come from the arguments of a program. A mistake is an error of rustc in a
/// `const` of a graph, and in a constant that ends with [`checked`](Self::checked). In other places the graph's `new`, or the
/// call that makes the partitions, returns the error, as for a [`CudaStreamPool`](crate::CudaStreamPool#mistakes). So a constant
/// with a partition that does not exist does not compile:
/// ```compile_fail
/// # use streamflow::CudaStreamPool;
/// # use streamflow::stream::CudaGreenContextPool;
/// const GREEN: CudaGreenContextPool = CudaGreenContextPool::new().sms_per_partition(&[8, 16]);
/// const THIRD: CudaStreamPool = CudaStreamPool::new().on(GREEN.context(2)).checked();
/// ```
#[must_use = "it describes green contexts, and makes none"]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CudaGreenContextPool {
    pub(super) device: DeviceId,
    pub(super) coscheduling: Coscheduling,
    sizes: Sizes,
    default: Option<usize>,
    smallest: u32,
}

/// The largest number of partitions of a description. No device has that many, since a partition has at least 2 multiprocessors.
const MOST: usize = 128;

/// The sizes of the partitions. They are in an array, because they may be known only at run time. Unused elements are 0.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Sizes {
    list: [u32; MOST],
    /// How many sizes the program has set. The number may be larger than `MOST`, the length of `list`, which is a mistake.
    len: usize,
}

impl Sizes {
    const fn as_slice(&self) -> &[u32] {
        if self.len < MOST { self.list.split_at(self.len).0 } else { &self.list }
    }
}

impl fmt::Debug for Sizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_slice().fmt(f)
    }
}

impl CudaGreenContextPool {
    /// Describes device 0 without partitions: all its multiprocessors are the leftover.
    pub const fn new() -> Self {
        let (device, sizes) = (DeviceId(0), Sizes { list: [0; MOST], len: 0 });
        Self { device, coscheduling: Coscheduling::Kept, sizes, default: None, smallest: 1 }
    }

    /// Sets the device to divide. Holoscan's `dev_id`.
    pub const fn device(mut self, device: DeviceId) -> Self {
        self.device = device;
        self
    }

    /// Sets whether multiprocessors that can be scheduled together stay in one partition. Holoscan's `flags`.
    pub const fn coscheduling(mut self, coscheduling: Coscheduling) -> Self {
        self.coscheduling = coscheduling;
        self
    }

    /// Sets how many multiprocessors each partition has, in order. Holoscan's `sms_per_partition`; the number of sizes is
    /// Holoscan's `num_partitions`. A size that [`min_sm_size`](Self::min_sm_size) forbids is a mistake.
    pub const fn sms_per_partition(mut self, sizes: &[u32]) -> Self {
        self.sizes = Sizes { list: [0; MOST], len: sizes.len() };
        let mut i = 0;
        while i < sizes.len() && i < MOST {
            self.sizes.list[i] = sizes[i];
            i += 1;
        }
        self
    }

    /// Sets the default partition. Holoscan's `default_context_index`. Without this call the default is the last partition, as in
    /// Holoscan: the leftover, if there is one. The index of a partition that does not exist is a mistake.
    pub const fn default_context_index(mut self, index: usize) -> Self {
        self.default = Some(index);
        self
    }

    /// Sets a number that each size must be a multiple of, so that a wrong size is an error while compiling. Holoscan's
    /// `min_sm_size`. The device's own rule is checked, too, when the partitions are made. 0 is a mistake.
    pub const fn min_sm_size(mut self, multiprocessors: u32) -> Self {
        self.smallest = multiprocessors;
        self
    }

    /// Returns the description unchanged, after a check that it has no mistake.
    ///
    /// # Panics
    /// For a [mistake](Self#mistakes). In a constant this is an error while compiling.
    #[track_caller]
    #[must_use = "it returns the checked pool"]
    pub const fn checked(self) -> Self {
        match self.problem("") {
            None => self,
            Some(problem) => problem.fail(),
        }
    }

    /// Returns the mistake in this description, as a text that begins with the pool's name, if `name` is not empty; `None`
    /// without a mistake.
    pub(crate) const fn problem(&self, name: &str) -> Option<Text> {
        let pool = named("green context pool", name);
        if self.smallest == 0 {
            return Some(pool.add(" has `min_sm_size(0)`; it is at least 1"));
        }
        if self.sizes.len > MOST {
            let text =
                pool.add(" has ").add_number(self.sizes.len).add(" partitions; name at most ");
            return Some(text.add_number(MOST));
        }
        let (sizes, mut i) = (self.sizes.as_slice(), 0);
        while i < sizes.len() {
            let size = sizes[i] as usize;
            if size == 0 {
                let text =
                    pool.add(" has a partition of 0 multiprocessors; give each at least one");
                return Some(text);
            }
            if !size.is_multiple_of(self.smallest as usize) {
                let text = pool.add(" has a partition of ").add_number(size);
                let text = text.add(" multiprocessors, which is no multiple of `min_sm_size(");
                return Some(text.add_number(self.smallest as usize).add(")`; round it up"));
            }
            i += 1;
        }
        match self.default {
            Some(index) if index >= sizes.len() && !sizes.is_empty() => {
                let text = pool.add(" has the default partition ").add_number(index).add(", but ");
                Some(not_there(text, sizes.len()))
            }
            _ => None,
        }
    }

    /// How many multiprocessors each partition has.
    pub(super) const fn sizes(&self) -> &[u32] {
        self.sizes.as_slice()
    }

    /// Whether both descriptions divide the device in the same way. Fields without influence on the division are ignored.
    pub(super) fn divides_as(&self, other: &Self) -> bool {
        (self.device, self.coscheduling, self.sizes)
            == (other.device, other.coscheduling, other.sizes)
    }

    /// Describes a partition, numbered from 0. Holoscan's `CudaGreenContext` with an `index`. To put a stream pool on a partition
    /// that does not exist is a mistake.
    pub const fn context(self, index: usize) -> CudaGreenContext {
        CudaGreenContext { pool: self, which: Which::Partition(index) }
    }

    /// Describes the default partition. Holoscan's `CudaGreenContext` without an `index`. If
    /// [`default_context_index`](Self::default_context_index) was called and there are no partitions, to put a stream pool on it
    /// is a mistake:
    /// ```compile_fail
    /// # use streamflow::CudaStreamPool;
    /// # use streamflow::stream::CudaGreenContextPool;
    /// const GREEN: CudaGreenContextPool = CudaGreenContextPool::new().default_context_index(0);
    /// const DEFAULT: CudaStreamPool = CudaStreamPool::new().on(GREEN.default_context()).checked();
    /// ```
    pub const fn default_context(self) -> CudaGreenContext {
        CudaGreenContext { pool: self, which: Which::Default }
    }

    /// Describes the leftover: the multiprocessors that are in no partition. Its use is an error if there are none.
    pub const fn leftover(self) -> CudaGreenContext {
        CudaGreenContext { pool: self, which: Which::Leftover }
    }
}

impl Default for CudaGreenContextPool {
    fn default() -> Self {
        Self::new()
    }
}

/// Describes on which partition of a [`CudaGreenContextPool`] a stream pool is. Holoscan's `CudaGreenContext`. The partition
/// itself is a [`GreenContext`].
#[must_use = "it names a green context, and makes none"]
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

    /// Returns the mistake in this description or in its pool; `None` without a mistake.
    pub(super) const fn problem(&self) -> Option<Text> {
        let partitions = self.pool.sizes().len();
        match (self.which, self.pool.default) {
            (Which::Partition(index), _) if index >= partitions => {
                let text = Text::new().add("it names partition ").add_number(index).add(", but ");
                Some(not_there(text, partitions))
            }
            (Which::Default, Some(index)) if partitions == 0 => {
                let text = Text::new().add("its default is partition ").add_number(index);
                Some(not_there(text.add(", but "), partitions))
            }
            _ => self.pool.problem(""),
        }
    }
}

/// Returns the kind and the name, as ``stream pool `STREAMS` ``; if `name` is empty, as `a stream pool`.
pub(super) const fn named(kind: &str, name: &str) -> Text {
    if name.is_empty() {
        Text::new().add("a ").add(kind)
    } else {
        Text::new().add(kind).add(" `").add(name).add("`")
    }
}

/// Appends to the text how many partitions there are.
const fn not_there(text: Text, partitions: usize) -> Text {
    let text = match partitions {
        0 => text.add("`sms_per_partition` has none"),
        1 => text.add("`sms_per_partition` has 1"),
        _ => text.add("`sms_per_partition` has ").add_number(partitions),
    };
    text.add("; they are counted from 0")
}

/// The partitions of a device that the driver has made from a [`CudaGreenContextPool`].
/// [`Platform::green_contexts`](crate::Platform::green_contexts) returns this value.
#[derive(Debug, Clone)]
pub struct GreenContexts {
    pub(super) pool: CudaGreenContextPool,
    /// The partitions in order, followed by the leftover, if there is one.
    pub(super) contexts: Arc<[GreenContext]>,
}

impl GreenContexts {
    /// The partitions, in order, without the leftover.
    pub fn partitions(&self) -> &[GreenContext] {
        &self.contexts[..self.pool.sizes().len()]
    }

    /// The leftover: the multiprocessors that are in no partition; `None` if there are none.
    pub fn leftover(&self) -> Option<GreenContext> {
        self.contexts.get(self.pool.sizes().len()).copied()
    }

    /// Returns the green context that a description means.
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
    Error::GreenContexts { device: pool.device, asked: pool.sizes().to_vec(), problem, cause }
}
