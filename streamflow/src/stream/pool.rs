//! Pools of streams: a description that can be a `const`, and the live pool made from it.

use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{CudaStream, StreamTable, Timeline};
use crate::driver::{DeviceId, StreamFlags, StreamOptions};
use crate::error::{Error, Result};

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
    device: DeviceId,
    flags: StreamFlags,
    priority: i32,
    reserved_size: u32,
    max_size: Option<u32>,
}

impl CudaStreamPool {
    /// On device 0, non-blocking, default priority, nothing reserved, no maximum.
    ///
    /// The seed's default lets streams block against the default stream (flags 0). Here every
    /// dependency becomes an event, so that barrier could only cost time.
    pub const fn new() -> Self {
        Self {
            device: DeviceId(0),
            flags: StreamFlags::NonBlocking,
            priority: 0,
            reserved_size: 0,
            max_size: None,
        }
    }

    /// The device of its streams. Holoscan's `dev_id`.
    pub const fn device(mut self, device: DeviceId) -> Self {
        self.device = device;
        self
    }

    /// How its streams behave against the default stream. Holoscan's `stream_flags`.
    pub const fn flags(mut self, flags: StreamFlags) -> Self {
        self.flags = flags;
        self
    }

    /// CUDA's priority of its streams: lower is more urgent. Clamped to what the device offers, with
    /// a warning in the log. Holoscan's `stream_priority`.
    pub const fn priority(mut self, priority: i32) -> Self {
        self.priority = priority;
        self
    }

    /// How many streams to make at once, when the pool is made. Holoscan's `reserved_size`.
    pub const fn reserved_size(mut self, streams: u32) -> Self {
        self.reserved_size = streams;
        self.check();
        self
    }

    /// How many streams the pool may lend at a time. Holoscan's `max_size`, whose 0 for "no
    /// maximum" is not calling this.
    ///
    /// # Panics
    /// For 0: such a pool lends nothing. In a `const` while compiling.
    pub const fn max_size(mut self, streams: u32) -> Self {
        assert!(streams > 0, "a stream pool of size 0 lends nothing");
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
    }

    /// The maximum, if there is one.
    pub const fn get_max_size(&self) -> Option<u32> {
        self.max_size
    }

    /// How many streams are made at once.
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

/// A live pool: lends streams, and takes them back when they are dropped.
///
/// Cloning gives another handle of the same pool.
#[derive(Debug, Clone)]
pub struct StreamPool(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    name: String,
    description: CudaStreamPool,
    options: StreamOptions,
    table: Arc<StreamTable>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    idle: Vec<Arc<Timeline>>,
    /// Who holds the streams that are lent.
    holders: Vec<(u32, Cow<'static, str>)>,
}

impl StreamPool {
    /// `name` is for messages.
    pub(crate) fn new(
        table: &Arc<StreamTable>,
        name: &str,
        description: &CudaStreamPool,
    ) -> Result<Self> {
        let device = description.device;
        let devices = table.driver().device_count();
        if device.index() >= devices {
            return Err(Error::NoSuchDevice {
                who: format!("stream pool `{name}`"),
                device,
                devices,
            });
        }
        let (urgent, relaxed) = table.driver().device_info(device)?.priorities;
        let priority = description.priority.clamp(urgent, relaxed);
        if priority != description.priority {
            tracing::warn!(
                pool = name,
                asked = description.priority,
                used = priority,
                "the device has no such stream priority"
            );
        }
        let options = StreamOptions { flags: description.flags, priority };
        let pool = Shared {
            name: name.to_owned(),
            description: *description,
            options,
            table: table.clone(),
            state: Mutex::default(),
        };
        for _ in 0..description.reserved_size {
            // On an error the pool is dropped, and gives back what it has.
            let timeline = table.take(device, options)?;
            pool.lock().idle.push(timeline);
        }
        Ok(Self(Arc::new(pool)))
    }

    /// Lends a stream. `holder` says who asks, for the message when the pool is exhausted.
    ///
    /// # Errors
    /// [`Error::PoolExhausted`] when all streams are lent, with the pool, its size and who holds
    /// them; the driver's, when a stream can't be made.
    pub fn allocate(&self, holder: impl Into<Cow<'static, str>>) -> Result<CudaStream> {
        self.allocate_for(holder.into())
    }

    fn allocate_for(&self, holder: Cow<'static, str>) -> Result<CudaStream> {
        let pool = &*self.0;
        let mut state = pool.lock();
        if let Some(max_size) = pool.description.max_size
            && state.holders.len() >= max_size as usize
        {
            return Err(Error::PoolExhausted {
                pool: pool.name.clone(),
                who: holder.into_owned(),
                max_size,
                holders: state.holders.iter().map(|(_, holder)| holder.to_string()).collect(),
            });
        }
        let timeline = match state.idle.pop() {
            Some(timeline) => timeline,
            None => pool.table.take(pool.description.device, pool.options)?,
        };
        state.holders.push((timeline.id(), holder));
        let lease = Lease { pool: self.0.clone(), timeline: timeline.clone() };
        Ok(CudaStream::new(timeline, pool.table.clone(), Some(lease)))
    }

    /// The name it was made with.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// The device of its streams.
    pub fn device(&self) -> DeviceId {
        self.0.description.device
    }

    /// How many streams are lent now.
    pub fn lent(&self) -> usize {
        self.0.lock().holders.len()
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        for timeline in self.lock().idle.drain(..) {
            self.table.give_back(timeline);
        }
    }
}

/// A stream that is lent; dropping gives it back.
pub(super) struct Lease {
    pool: Arc<Shared>,
    timeline: Arc<Timeline>,
}

impl Lease {
    pub(super) fn pool_name(&self) -> &str {
        &self.pool.name
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let mut state = self.pool.lock();
        state.holders.retain(|(id, _)| *id != self.timeline.id());
        state.idle.push(self.timeline.clone());
    }
}

impl fmt::Debug for Lease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "lease of `{}`", self.pool.name)
    }
}
