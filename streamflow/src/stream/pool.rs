//! Descriptions of stream pools, which can be constants.

use super::green::named;
use super::{Assign, CudaGreenContext};
use crate::driver::{DeviceId, StreamFlags};
use crate::error::const_text::Text;

/// Describes a pool of streams without making one: its device, flags, priority, and number of streams. Holoscan's name is also
/// `CudaStreamPool`. The pool itself is a [`StreamPool`](crate::stream::StreamPool).
///
/// A description is a plain value. A graph can name it in a `const`, and is then checked while compiling: the pool must have
/// enough streams for the graph's operators. A `let` of a graph can make a description from the graph's parameters.
/// [`Platform::stream_pool`](crate::Platform::stream_pool) makes a pool from a description.
///
/// ```
/// use streamflow::CudaStreamPool;
///
/// const STREAMS: CudaStreamPool = CudaStreamPool::new().max_size(5).reserved_size(1).checked();
/// assert_eq!(STREAMS.get_max_size(), Some(5));
/// ```
///
/// # Mistakes
/// The methods accept any values, since these may come from the arguments of a program. A mistake, for example a pool that
/// reserves more streams than its maximum, is an error of
///
/// - rustc, for a `const` of a graph, and for a constant that ends with [`checked`](Self::checked):
///   ```compile_fail
///   use streamflow::CudaStreamPool;
///   const STREAMS: CudaStreamPool = CudaStreamPool::new().max_size(2).reserved_size(5).checked();
///   ```
/// - the graph's `new`, for a `let` of a graph, and of `Platform::stream_pool`, with the same text:
///   [`Error::PoolDescription`](crate::Error::PoolDescription).
#[must_use = "it describes a pool, and makes none"]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CudaStreamPool {
    pub(super) device: DeviceId,
    pub(super) flags: StreamFlags,
    pub(super) priority: i32,
    pub(super) reserved_size: u32,
    pub(super) max_size: Option<u32>,
    pub(super) green: Option<CudaGreenContext>,
    pub(super) on_default: bool,
    /// `None` if the program has not set an assignment; an environment variable may then set it.
    pub(super) assign: Option<Assign>,
}

impl CudaStreamPool {
    /// The largest number of streams that a pool can reserve. Reserved streams are made with the pool, and use device memory.
    pub const MOST_RESERVED: u32 = 1024;

    /// Describes a pool on device 0 with non-blocking streams, default priority, no reserved streams and no maximum.
    ///
    /// In Holoscan's default pool (flags 0), the streams and the default stream wait for each other. Here every dependency
    /// becomes an event, so these waits would only cost time.
    pub const fn new() -> Self {
        Self {
            device: DeviceId(0),
            flags: StreamFlags::NonBlocking,
            priority: 0,
            reserved_size: 0,
            max_size: None,
            green: None,
            on_default: false,
            assign: None,
        }
    }

    /// Sets the device of the pool's streams. Holoscan's `dev_id`. It is a mistake if a green context is on another device.
    pub const fn device(mut self, device: DeviceId) -> Self {
        self.device = device;
        self
    }

    /// Sets whether the pool's streams and the default stream wait for each other. Holoscan's `stream_flags`. Blocking streams on
    /// a green context are a mistake, since CUDA does not have them.
    pub const fn flags(mut self, flags: StreamFlags) -> Self {
        self.flags = flags;
        self
    }

    /// Puts the pool on a green context: the kernels of its streams use only the multiprocessors of that context. Also sets the
    /// pool's device to the context's device. Holoscan's `cuda_green_context`.
    ///
    /// It is a mistake if the pool's streams are blocking, or if its [`device`](Self::device) is neither 0 nor the context's
    /// device:
    /// ```compile_fail
    /// use streamflow::{device, CudaStreamPool};
    /// use streamflow::stream::CudaGreenContextPool;
    /// const GREEN: CudaGreenContextPool = CudaGreenContextPool::new();
    /// const FAR: CudaStreamPool = CudaStreamPool::new().device(device(1)).on(GREEN.leftover()).checked();
    /// ```
    pub const fn on(mut self, green: CudaGreenContext) -> Self {
        if self.device.index() == 0 {
            self.device = green.get_device();
        }
        self.green = Some(green);
        self
    }

    /// Sets CUDA's priority of the pool's streams: a lower number is more urgent. A priority outside of the device's range is
    /// clamped, and the log gets a warning. Holoscan's `stream_priority`.
    pub const fn priority(mut self, priority: i32) -> Self {
        self.priority = priority;
        self
    }

    /// Sets how many streams are made together with the pool: 0 to [`MOST_RESERVED`](Self::MOST_RESERVED). Holoscan's
    /// `reserved_size`. A number larger than the pool's maximum is a mistake, too.
    pub const fn reserved_size(mut self, streams: u32) -> Self {
        self.reserved_size = streams;
        self
    }

    /// Sets how many streams of the pool may be in use at a time, at least 1. Streams are made when they are needed. Holoscan's
    /// `max_size`. For no maximum, which is 0 in Holoscan, leave this call out: 0 is a mistake.
    pub const fn max_size(mut self, streams: u32) -> Self {
        self.max_size = Some(streams);
        self
    }

    /// Sets whether all streams of the pool are the device's default stream, so that a graph can be deployed with the default
    /// stream or with streams of its own.
    ///
    /// With `true`, each operator on the pool works on the default stream: `allocate_cuda_stream` and `receive_cuda_stream`
    /// return it. The pool's sizes, flags and priority are not used. Holoscan's `use_default_stream`, which an application has to
    /// write in two places there.
    pub const fn use_default_stream(mut self, on_default: bool) -> Self {
        self.on_default = on_default;
        self
    }

    /// Sets how the operators of a graph that use this pool get their internal streams: one for each, or planned. [`Assign`] has
    /// the rules. A planned depth of 0, or of more than 64, is a mistake.
    pub const fn assign(mut self, assign: Assign) -> Self {
        self.assign = Some(assign);
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
        let pool = named("stream pool", name);
        if let Some(assign) = &self.assign
            && let Some(problem) = assign.problem()
        {
            return Some(pool.add(problem));
        }
        if self.reserved_size > Self::MOST_RESERVED {
            let text = pool.add(" reserves ").add_number(self.reserved_size as usize);
            let text = text.add(" streams; give `reserved_size` at most ");
            let text = text.add_number(Self::MOST_RESERVED as usize);
            return Some(text.add(", since each is made with the pool"));
        }
        if let Some(max) = self.max_size {
            if max == 0 {
                let text =
                    pool.add(" holds no stream; give `max_size` at least 1, or leave it out");
                return Some(text.add(" for no maximum"));
            }
            if self.reserved_size > max {
                let text = pool.add(" reserves ").add_number(self.reserved_size as usize);
                let text = text.add(" streams, but holds ").add_number(max as usize);
                return Some(text.add("; raise `max_size`, or lower `reserved_size`"));
            }
        }
        let Some(green) = &self.green else { return None };
        if !matches!(self.flags, StreamFlags::NonBlocking) {
            let text = pool.add(" on a green context can't have blocking streams; CUDA makes only");
            return Some(text.add(" non-blocking ones there"));
        }
        if self.on_default {
            let text =
                pool.add(" on a green context can't use the default stream, which is on the whole");
            return Some(text.add(" device; leave `on` or `use_default_stream` out"));
        }
        let on = green.get_device().index();
        if on != self.device.index() {
            let text = pool.add(" is on device ").add_number(self.device.index());
            let text = text.add(", but its green context is on device ").add_number(on);
            return Some(text.add("; leave `device` out"));
        }
        match green.problem() {
            None => None,
            Some(problem) => Some(pool.add(" has a wrong green context: ").add_text(&problem)),
        }
    }

    /// Returns the mistake in this description for a pool of a graph with ports, as [`problem`](Self::problem) does. The pool is on the
    /// device of the node that the graph is.
    pub(crate) const fn problem_inside(&self, name: &str) -> Option<Text> {
        if let Some(problem) = self.problem(name) {
            return Some(problem);
        }
        if self.device.index() == 0 && self.green.is_none() {
            return None;
        }
        let text = named("stream pool", name);
        let text = match self.green {
            Some(_) => text.add(" is on a green context"),
            None => text.add(" is on device ").add_number(self.device.index()),
        };
        let text = text.add(
            ", but a pool of a graph with ports is on the device of the node that the graph is",
        );
        Some(
            text.add(
                "; declare it in the graph around this one, and name it there, `#[streams(…)]`",
            ),
        )
    }

    /// The maximum number of streams in use; `None` if there is no maximum.
    pub const fn get_max_size(&self) -> Option<u32> {
        self.max_size
    }

    /// How many streams are made together with the pool.
    pub const fn get_reserved_size(&self) -> u32 {
        self.reserved_size
    }

    /// The device of the pool's streams.
    pub const fn get_device(&self) -> DeviceId {
        self.device
    }

    /// How the operators of a graph that use this pool get their internal streams.
    pub const fn get_assign(&self) -> Assign {
        match self.assign {
            Some(assign) => assign,
            None => Assign::PerOperator,
        }
    }

    /// Whether all streams of the pool are the device's default stream.
    pub const fn uses_default_stream(&self) -> bool {
        self.on_default
    }
}

impl Default for CudaStreamPool {
    fn default() -> Self {
        Self::new()
    }
}
