//! Pools of streams, as descriptions that can be a `const`.

use super::CudaGreenContext;
use crate::driver::{DeviceId, StreamFlags};

/// Describes a pool of streams: device, flags, priority, and how many. Holoscan's `CudaStreamPool`.
///
/// It is a plain value, so that a graph can name it in a `const` and count its operators' streams
/// against it while compiling. [`Platform::stream_pool`](crate::Platform::stream_pool) makes the
/// live pool.
///
/// ```
/// use streamflow::CudaStreamPool;
///
/// const STREAMS: CudaStreamPool = CudaStreamPool::new().max_size(5).reserved_size(1);
/// assert_eq!(STREAMS.get_max_size(), Some(5));
/// ```
///
/// # Panics
/// Reserving more than the maximum panics, in a `const` while compiling:
/// ```compile_fail
/// use streamflow::CudaStreamPool;
/// const STREAMS: CudaStreamPool = CudaStreamPool::new().max_size(2).reserved_size(5);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CudaStreamPool {
    pub(super) device: DeviceId,
    pub(super) flags: StreamFlags,
    pub(super) priority: i32,
    pub(super) reserved_size: u32,
    pub(super) max_size: Option<u32>,
    pub(super) green: Option<CudaGreenContext>,
}

impl CudaStreamPool {
    /// On device 0, non-blocking, default priority, nothing reserved, no maximum.
    ///
    /// Holoscan's default lets streams block against the default stream (flags 0). Here every
    /// dependency becomes an event, so that barrier could only cost time.
    pub const fn new() -> Self {
        Self {
            device: DeviceId(0),
            flags: StreamFlags::NonBlocking,
            priority: 0,
            reserved_size: 0,
            max_size: None,
            green: None,
        }
    }

    /// The device of its streams. Holoscan's `dev_id`.
    ///
    /// # Panics
    /// For another device than that of its green context. In a `const` while compiling.
    pub const fn device(mut self, device: DeviceId) -> Self {
        self.device = device;
        self.check();
        self
    }

    /// Whether its streams synchronise with the default stream. Holoscan's `stream_flags`.
    ///
    /// # Panics
    /// For blocking streams of a green context, which CUDA does not have. In a `const` while compiling.
    pub const fn flags(mut self, flags: StreamFlags) -> Self {
        self.flags = flags;
        self.check();
        self
    }

    /// Restricts the kernels of its streams to the multiprocessors of a green context, and sets the device to the
    /// context's. Holoscan's `cuda_green_context`.
    ///
    /// # Panics
    /// For a pool of blocking streams, since CUDA has none in green contexts; for a pool whose
    /// [`device`](Self::device) is neither 0 nor the context's. In a `const` while compiling:
    /// ```compile_fail
    /// use streamflow::{CudaGreenContextPool, CudaStreamPool, device};
    /// const GREEN: CudaGreenContextPool = CudaGreenContextPool::new();
    /// const FAR: CudaStreamPool = CudaStreamPool::new().device(device(1)).on(GREEN.leftover());
    /// ```
    pub const fn on(mut self, green: CudaGreenContext) -> Self {
        if self.device.index() != 0 {
            self.green = Some(green);
            self.check();
        }
        self.device = green.get_device();
        self.green = Some(green);
        self.check();
        self
    }

    /// CUDA's priority of its streams: a lower number is more urgent. It is clamped to the device's range, with
    /// a warning in the log. Holoscan's `stream_priority`.
    pub const fn priority(mut self, priority: i32) -> Self {
        self.priority = priority;
        self
    }

    /// How many streams to make together with the pool. Holoscan's `reserved_size`.
    pub const fn reserved_size(mut self, streams: u32) -> Self {
        self.reserved_size = streams;
        self.check();
        self
    }

    /// How many streams may be in use at a time. Holoscan's `max_size`. For Holoscan's 0, "no maximum", leave this
    /// call out.
    ///
    /// # Panics
    /// For 0. In a `const` while compiling.
    pub const fn max_size(mut self, streams: u32) -> Self {
        assert!(streams > 0, "`max_size` is at least 1; leave it out for no maximum");
        self.max_size = Some(streams);
        self.check();
        self
    }

    #[track_caller]
    const fn check(&self) {
        if let Some(max) = self.max_size {
            assert!(
                self.reserved_size <= max,
                "a stream pool reserves more streams than it may hold; raise `max_size`, or lower `reserved_size`"
            );
        }
        if let Some(green) = &self.green {
            assert!(
                matches!(self.flags, StreamFlags::NonBlocking),
                "a stream pool on a green context can't have blocking streams; CUDA makes only \
                 non-blocking ones there"
            );
            assert!(
                green.get_device().index() == self.device.index(),
                "a stream pool on a green context is on that context's device; leave `device` out"
            );
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
}

impl Default for CudaStreamPool {
    fn default() -> Self {
        Self::new()
    }
}
