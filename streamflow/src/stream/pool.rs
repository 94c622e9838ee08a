//! Pools of streams, as descriptions that can be a `const`.

use super::green::named;
use super::{Assign, CudaGreenContext};
use crate::driver::{DeviceId, StreamFlags};
use crate::error::const_text::Text;

/// Describes a pool of streams, without making any: device, flags, priority, and number of streams. Holoscan's
/// `CudaStreamPool`. The live pool is a [`StreamPool`](crate::stream::StreamPool).
///
/// A description is a plain value: a graph can name it in a `const` and count its operators' streams against it while
/// compiling. A `let` of a graph makes a description from the graph's parameters.
/// [`Platform::stream_pool`](crate::Platform::stream_pool) makes the live pool.
///
/// ```
/// use streamflow::CudaStreamPool;
///
/// const STREAMS: CudaStreamPool = CudaStreamPool::new().max_size(5).reserved_size(1).checked();
/// assert_eq!(STREAMS.get_max_size(), Some(5));
/// ```
///
/// # Mistakes
/// The methods accept any values, since these may come from the arguments of a program. A mistake, for example a pool
/// that reserves more streams than it may hold, is an error of
///
/// - rustc, for a `const` of a graph, and for a constant that ends with [`checked`](Self::checked):
///   ```compile_fail
///   use streamflow::CudaStreamPool;
///   const STREAMS: CudaStreamPool = CudaStreamPool::new().max_size(2).reserved_size(5).checked();
///   ```
/// - the graph's `new`, for a `let` of a graph, and of `Platform::stream_pool`:
///   [`Error::PoolDescription`](crate::Error::PoolDescription), in the same words.
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
    /// `None` for the default; an environment variable may change the default.
    pub(super) assign: Option<Assign>,
}

impl CudaStreamPool {
    /// The most streams that a pool can reserve. Each is made at once, and takes memory of the device.
    pub const MOST_RESERVED: u32 = 1024;

    /// A pool on device 0 with non-blocking streams, default priority, nothing reserved and no maximum.
    ///
    /// Holoscan's default lets streams block against the default stream (flags 0). Here every dependency becomes an
    /// event, so such a barrier could only cost time.
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

    /// The device of its streams. Holoscan's `dev_id`. Another device than that of its green context is a mistake.
    pub const fn device(mut self, device: DeviceId) -> Self {
        self.device = device;
        self
    }

    /// Whether its streams synchronise with the default stream. Holoscan's `stream_flags`. Blocking streams of a green
    /// context are a mistake: CUDA does not have them.
    pub const fn flags(mut self, flags: StreamFlags) -> Self {
        self.flags = flags;
        self
    }

    /// Restricts the kernels of its streams to the multiprocessors of a green context, and sets the device to the
    /// context's. Holoscan's `cuda_green_context`.
    ///
    /// A mistake: a pool of blocking streams, and a pool with a [`device`](Self::device) that is neither 0 nor the
    /// context's:
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

    /// CUDA's priority of the pool's streams: a lower number is more urgent. A priority outside of the device's range
    /// is clamped, with a warning in the log. Holoscan's `stream_priority`.
    pub const fn priority(mut self, priority: i32) -> Self {
        self.priority = priority;
        self
    }

    /// How many streams to make together with the pool: 0 to [`MOST_RESERVED`](Self::MOST_RESERVED). Holoscan's
    /// `reserved_size`. More than the maximum are a mistake, too.
    pub const fn reserved_size(mut self, streams: u32) -> Self {
        self.reserved_size = streams;
        self
    }

    /// How many streams may be in use at a time: any number from 1 on, since they are made when they are needed. Holoscan's
    /// `max_size`. For Holoscan's 0, "no maximum", leave this call out: 0 is a mistake.
    pub const fn max_size(mut self, streams: u32) -> Self {
        self.max_size = Some(streams);
        self
    }

    /// Whether all its streams are the device's default stream: a switch between the default stream and streams of the
    /// pool, for a graph that is deployed with either.
    ///
    /// With `true`, each operator on the pool works on the default stream, `allocate_cuda_stream` and
    /// `receive_cuda_stream` return it, and the sizes, flags and priority of the pool are not used. Holoscan's
    /// `use_default_stream`; an application has to write it twice there.
    pub const fn use_default_stream(mut self, on_default: bool) -> Self {
        self.on_default = on_default;
        self
    }

    /// How the operators of a graph on this pool get their internal streams: one for each, or planned. [`Assign`] has the
    /// rules. A planned depth of 0 is a mistake, and so is one above 64.
    pub const fn assign(mut self, assign: Assign) -> Self {
        self.assign = Some(assign);
        self
    }

    /// Returns the same description after a check that it has no mistake.
    ///
    /// # Panics
    /// For a [mistake](Self#mistakes): in a constant, while compiling.
    #[track_caller]
    #[must_use = "it returns the checked pool"]
    pub const fn checked(self) -> Self {
        match self.problem("") {
            None => self,
            Some(problem) => problem.fail(),
        }
    }

    /// The mistake in this description, as a text that begins with the pool's name, if that is known. `None` without a mistake.
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

    /// The maximum, if there is one.
    pub const fn get_max_size(&self) -> Option<u32> {
        self.max_size
    }

    /// How many streams are made together with the pool.
    pub const fn get_reserved_size(&self) -> u32 {
        self.reserved_size
    }

    /// The device of its streams.
    pub const fn get_device(&self) -> DeviceId {
        self.device
    }

    /// How the operators of a graph on this pool get their internal streams.
    pub const fn get_assign(&self) -> Assign {
        match self.assign {
            Some(assign) => assign,
            None => Assign::PerOperator,
        }
    }

    /// Whether all its streams are the device's default stream.
    pub const fn uses_default_stream(&self) -> bool {
        self.on_default
    }
}

impl Default for CudaStreamPool {
    fn default() -> Self {
        Self::new()
    }
}
