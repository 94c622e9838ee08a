//! Stream pools that have streams: they hand out streams, and take them back.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use super::{Assign, CudaStream, CudaStreamPool, StreamTable, Timeline};
use crate::driver::{DeviceId, StreamOptions};
use crate::error::{Error, Result};
use crate::lock::Lock;
use crate::log;

/// A stream pool that has streams. It allocates them, and takes them back when they are dropped.
/// [`Platform::stream_pool`](crate::Platform::stream_pool) makes such a pool from its description, a [`CudaStreamPool`]. A graph
/// makes the pools that it describes.
///
/// A clone is another handle of the same pool.
#[derive(Clone)]
pub struct StreamPool(Arc<Shared>);

struct Shared {
    name: String,
    description: CudaStreamPool,
    options: StreamOptions,
    table: Arc<StreamTable>,
    state: Lock<State>,
}

#[derive(Default)]
struct State {
    idle: Vec<Arc<Timeline>>,
    /// The number and the label of each stream that is in use.
    in_use: Vec<(u32, Cow<'static, str>)>,
}

impl StreamPool {
    /// Makes a pool and its reserved streams. Error texts call the pool by `name`.
    pub(crate) fn new(
        table: &Arc<StreamTable>,
        name: &str,
        description: &CudaStreamPool,
    ) -> Result<Self> {
        if let Some(problem) = description.problem(name) {
            let (pool, problem) = (name.to_owned(), problem.into_text());
            return Err(Error::PoolDescription { pool, problem });
        }
        let device = description.device;
        let devices = table.device_count();
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
                requested = description.priority,
                used = priority,
                "the device has no such stream priority"
            );
        }
        let green = description.green.map(|green| table.green(&green)).transpose()?;
        let options = StreamOptions { flags: description.flags, priority, green };
        let pool = Shared {
            name: name.to_owned(),
            description: *description,
            options,
            table: table.clone(),
            state: Lock::default(),
        };
        let reserved = if description.on_default { 0 } else { description.reserved_size };
        for _ in 0..reserved {
            // If a call fails, `pool` is dropped, which returns the streams that were made before.
            let timeline = table.take(device, options)?;
            pool.state.lock().idle.push(timeline);
        }
        Ok(Self(Arc::new(pool)))
    }

    /// Allocates a stream. Errors, logs and reports call the stream by `label`, for example the name of its user. If the pool has
    /// [`use_default_stream`](CudaStreamPool::use_default_stream), this is a handle of the default stream.
    ///
    /// # Errors
    /// [`Error::PoolExhausted`] if all streams are in use, with the pool's name, its size and the labels of its streams; errors
    /// of the driver, if it can't make a stream.
    pub fn allocate(&self, label: impl Into<Cow<'static, str>>) -> Result<CudaStream> {
        self.allocate_labelled(label.into())
    }

    fn allocate_labelled(&self, label: Cow<'static, str>) -> Result<CudaStream> {
        let pool = &*self.0;
        if self.is_default_stream() {
            return Ok(CudaStream::default_of(&pool.table, self.device()));
        }
        let _later = log::later();
        let mut state = pool.state.lock();
        match pool.exhausted_at(&state) {
            None => self.take_or_make(&mut state, label),
            Some(max_size) => Err(Error::PoolExhausted {
                pool: pool.name.clone(),
                who: label.into_owned(),
                max_size,
                holders: state.in_use.iter().map(|(_, label)| label.to_string()).collect(),
            }),
        }
    }

    /// Does the same as [`allocate`](Self::allocate), but returns `None` if all streams are in use, for a caller that can go on
    /// without a stream. No error text is formatted then, because this may happen in every tick.
    ///
    /// # Errors
    /// Errors of the driver, if it can't make a stream.
    pub(crate) fn allocate_if_free(&self, label: &str) -> Result<Option<CudaStream>> {
        let _later = log::later();
        let mut state = self.0.state.lock();
        if self.0.exhausted_at(&state).is_some() {
            return Ok(None);
        }
        self.take_or_make(&mut state, Cow::Owned(label.to_owned())).map(Some)
    }

    /// Returns an idle stream, or makes one. The caller has checked that the pool is not exhausted.
    fn take_or_make(&self, state: &mut State, label: Cow<'static, str>) -> Result<CudaStream> {
        let pool = &*self.0;
        let timeline = match state.idle.pop() {
            Some(timeline) => timeline,
            None => pool.table.take(pool.description.device, pool.options)?,
        };
        timeline.set_label(label.clone());
        state.in_use.push((timeline.id(), label));
        let lease = Lease { pool: self.0.clone(), timeline: timeline.clone() };
        Ok(CudaStream::new(timeline, pool.table.clone(), Some(Arc::new(lease))))
    }

    /// The name of the pool in error texts.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// The device of the pool's streams.
    pub fn device(&self) -> DeviceId {
        self.0.description.device
    }

    /// The priority of the pool's streams: the description's priority, clamped to the device's range.
    pub fn priority(&self) -> i32 {
        self.0.options.priority
    }

    /// Returns how many streams of the pool an operator uses if it declares this number of streams.
    #[doc(hidden)]
    pub fn __streamflow_taken(&self, declared: usize) -> usize {
        if self.is_default_stream() { 0 } else { declared }
    }

    /// Whether all streams of the pool are the device's default stream.
    pub(crate) fn is_default_stream(&self) -> bool {
        self.0.description.on_default
    }

    /// How operators that use this pool get their internal streams; `None` if the pool's description does not say so.
    pub(crate) fn assign(&self) -> Option<Assign> {
        self.0.description.assign
    }

    /// Whether the pool's description sets a maximum number of streams.
    pub(crate) fn is_limited(&self) -> bool {
        self.0.description.max_size.is_some()
    }

    /// Whether both values are handles of the same pool.
    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Whether the streams of both pools have the same device, flags, priority and green context.
    pub(crate) fn has_streams_like(&self, other: &Self) -> bool {
        (self.device(), self.0.options) == (other.device(), other.0.options)
    }

    /// How many streams are in use now.
    pub fn in_use(&self) -> usize {
        self.0.state.lock().in_use.len()
    }
}

impl Shared {
    /// Returns the maximum number of streams, if that many streams are in use.
    fn exhausted_at(&self, state: &State) -> Option<u32> {
        self.description.max_size.filter(|max_size| state.in_use.len() >= *max_size as usize)
    }
}

// Formatting takes no lock of the pool, since the writer is the program's code.
impl fmt::Debug for StreamPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StreamPool")
            .field("name", &self.name())
            .field("description", &self.0.description)
            .finish_non_exhaustive()
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        for timeline in self.state.get_mut().idle.drain(..) {
            self.table.return_stream(timeline);
        }
    }
}

/// The right to use a stream of a pool. Dropping it returns the stream to the pool.
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
        let mut state = self.pool.state.lock();
        state.in_use.retain(|(id, _)| *id != self.timeline.id());
        state.idle.push(self.timeline.clone());
    }
}

impl fmt::Debug for Lease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "lease of `{}`", self.pool.name)
    }
}
