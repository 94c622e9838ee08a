//! What an operator gets beside its ports: streams, memory, and where it is.

mod single_stream;
mod stream;
mod stream_policy;
mod stream_ref;
mod streams;

use std::cell::{Cell, OnceCell, RefCell};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

pub use single_stream::SingleStream;
pub use stream::{OnStream, Stream, StreamName};
pub(crate) use stream_policy::StreamPolicy;
pub use stream_ref::{StreamRef, Synchronized};

use crate::driver::{DeviceId, DriverResult, Note};
use crate::error::Result;
use crate::memory::{Buffer, Download, Downloadable, Element, IntoShape, Pinned, Tensor};
use crate::message::{Metadata, Timestamp};
use crate::platform::Platform;
use crate::stream::{CudaStream, StreamPool, StreamTable};

/// Where the streams of a node come from.
#[derive(Debug, Clone)]
pub(crate) enum Streams {
    Pool(StreamPool),
    /// It owns none: it adopts the first that it receives.
    Adopt,
}

/// What an operator gets in each hook beside its ports.
pub struct ExecutionContext {
    platform: Platform,
    device: DeviceId,
    /// The node's name in its graph.
    node: String,
    streams: Streams,
    /// Of the whole graph.
    single_stream: SingleStream,
    internal: OnceCell<CudaStream>,
    /// The names that the operator declared, and their streams.
    names: &'static [&'static str],
    named: Box<[OnceCell<CudaStream>]>,
    /// Those that it named while running.
    found: boxcar::Vec<(String, CudaStream)>,
    /// The default streams that it used, by device: what an adopting operator works on says where it is.
    defaults: Box<[OnceCell<CudaStream>]>,
    /// Whether there is one in `found` or `defaults`. Most operators have none, and each hook asks.
    has_others: Cell<bool>,
    /// The device on whose default stream this tick works, for want of another.
    on_default: Cell<Option<DeviceId>>,
    tick: Cell<u64>,
    metadata: RefCell<Metadata>,
    finished: Cell<bool>,
    /// Of the whole graph.
    stop: Arc<AtomicBool>,
}

impl ExecutionContext {
    pub(crate) fn new(
        platform: &Platform,
        node: &str,
        device: DeviceId,
        streams: Streams,
        names: &'static [&'static str],
        single_stream: &SingleStream,
    ) -> Self {
        Self {
            platform: platform.clone(),
            device,
            node: node.to_owned(),
            streams,
            single_stream: single_stream.clone(),
            internal: OnceCell::new(),
            names,
            named: names.iter().map(|_| OnceCell::new()).collect(),
            found: boxcar::Vec::new(),
            defaults: (0..platform.device_count()).map(|_| OnceCell::new()).collect(),
            has_others: Cell::new(false),
            on_default: Cell::new(None),
            tick: Cell::new(0),
            metadata: RefCell::default(),
            finished: Cell::new(false),
            stop: Arc::default(),
        }
    }

    /// The platform that the graph runs on.
    pub fn platform(&self) -> &Platform {
        &self.platform
    }

    /// The device of this operator's streams. An operator that adopts a stream is on device 0 until
    /// it has one; in a tick whose messages were sent on a default stream it is on that one's.
    pub fn device(&self) -> DeviceId {
        match (&self.streams, self.internal.get()) {
            (Streams::Adopt, Some(adopted)) => adopted.device(),
            (Streams::Adopt, None) => self.on_default.get().unwrap_or(self.device),
            (Streams::Pool(_), _) => self.device,
        }
    }

    /// The node's name in its graph.
    pub fn node(&self) -> &str {
        &self.node
    }

    /// How many ticks this operator has done in this run before this one: 0 in the first. Another
    /// [`run`](crate::schedule::run) of the same graph counts from 0 again, though the operator keeps its
    /// state.
    pub fn tick(&self) -> u64 {
        self.tick.get()
    }

    /// A tensor whose first use may be on `stream`. Its content is undefined.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape); the driver's, when memory is exhausted.
    #[track_caller]
    pub fn tensor<T: Element>(
        &self,
        shape: impl IntoShape,
        stream: &Stream<'_>,
    ) -> Result<Tensor<T>> {
        self.platform.tensor(shape, stream)
    }

    /// A run of elements whose first use may be on `stream`. Its content is undefined.
    ///
    /// # Errors
    /// As for [`tensor`](Self::tensor).
    #[track_caller]
    pub fn buffer<T: Element>(&self, len: usize, stream: &Stream<'_>) -> Result<Buffer<T>> {
        self.platform.buffer(len, stream)
    }

    /// Page-locked host memory. Its content is undefined.
    ///
    /// # Errors
    /// As for [`Platform::pinned`].
    #[track_caller]
    pub fn pinned<T: Element>(&self, len: usize) -> Result<Pinned<T>> {
        self.platform.pinned(self.device(), len)
    }

    /// Queues a copy to the host on `stream`.
    ///
    /// # Errors
    /// As for [`Platform::download`].
    #[track_caller]
    pub fn download<T: Element>(
        &self,
        source: &(impl Downloadable<T> + ?Sized),
        stream: &Stream<'_>,
    ) -> Result<Download<T>> {
        self.platform.download(source, stream)
    }

    /// Makes something that needs a stream and lives longer than a tick.
    ///
    /// # Errors
    /// Those of `make`.
    pub fn on_stream<H>(
        &self,
        stream: &Stream<'_>,
        make: impl FnOnce(&CudaStream) -> Result<H>,
    ) -> Result<OnStream<H>> {
        Ok(OnStream::new(stream, make(stream)?))
    }

    /// Says that this operator does not run again: how a source without a count ends.
    pub fn finish(&self) {
        self.finished.set(true);
    }

    /// Asks the graph to end after this tick. Messages that are under way are dropped; a source that is
    /// at its end calls [`finish`](Self::finish) instead, and what it sent is consumed.
    pub fn stop_graph(&self) {
        self.stop.store(true, Ordering::Release);
    }

    pub(crate) fn table(&self) -> &StreamTable {
        self.platform.streams()
    }

    pub(crate) fn note_metadata(&self, received: &Metadata) {
        self.metadata.borrow_mut().merge(received);
    }

    /// What a message that is emitted now carries.
    #[inline]
    pub(crate) fn metadata(&self) -> Metadata {
        let mut metadata = self.metadata.borrow_mut();
        if metadata.acquired().is_none() {
            // Once: all that a tick emits was acquired at one moment.
            metadata.set_acquired(Timestamp::now());
        }
        metadata.clone()
    }

    /// Before a hook: binds the device, since libraries switch it.
    #[inline]
    pub(crate) fn enter(&mut self, hook: &'static str) -> DriverResult<()> {
        if self.platform.is_watched() {
            self.tell_enter(hook);
        }
        self.metadata.get_mut().clear();
        self.on_default.set(None);
        self.platform.driver().bind(self.device())
    }

    #[cold]
    fn tell_enter(&self, hook: &'static str) {
        self.platform.tell(&Note::Enter { node: &self.node, hook, tick: self.tick() });
    }

    /// After a hook, however it ended: records what it queued, once per stream (law 8), unless only
    /// one stream can ever need it.
    #[inline]
    pub(crate) fn close(&self) -> DriverResult<()> {
        if self.single_stream.holds() {
            return Ok(());
        }
        // Not as a chain of iterators, which in each hook costs more than what is done here.
        if let Some(stream) = self.internal.get() {
            stream.timeline().close()?;
        }
        for cell in &self.named {
            if let Some(stream) = cell.get() {
                stream.timeline().close()?;
            }
        }
        if self.has_others.get() { self.close_others() } else { Ok(()) }
    }

    #[inline(never)]
    fn close_others(&self) -> DriverResult<()> {
        for (_, (_, stream)) in &self.found {
            stream.timeline().close()?;
        }
        for stream in self.default_streams() {
            // The handle of a default stream names no device, and the hook may have bound another.
            stream.timeline().bind()?;
            stream.timeline().close()?;
        }
        Ok(())
    }

    /// After a hook that was [entered](Self::enter), whether or not that succeeded.
    pub(crate) fn leave(&self) {
        self.platform.tell(&Note::Leave);
    }

    pub(crate) fn count_tick(&self) {
        self.tick.set(self.tick.get() + 1);
    }

    pub(crate) fn is_finished(&self) -> bool {
        self.finished.get()
    }

    /// A run begins: ticks are counted anew, and `stop` is the run's.
    pub(crate) fn begin(&mut self, stop: &Arc<AtomicBool>) {
        self.stop = stop.clone();
        self.tick.set(0);
        self.finished.set(false);
    }

    /// Blocks until all work of the operator's streams is complete.
    pub(crate) fn synchronize_blocking(&self) -> Result<()> {
        let named = self.named.iter().filter_map(OnceCell::get);
        let mut own = self.internal.get().into_iter().chain(named);
        own.try_for_each(CudaStream::synchronize_blocking)?;
        self.found.iter().try_for_each(|(_, (_, stream))| stream.synchronize_blocking())?;
        self.default_streams().try_for_each(CudaStream::synchronize_blocking)
    }

    fn default_streams(&self) -> impl Iterator<Item = &CudaStream> {
        self.defaults.iter().filter_map(OnceCell::get)
    }
}

impl fmt::Debug for ExecutionContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExecutionContext")
            .field("node", &self.node)
            .field("tick", &self.tick())
            .finish_non_exhaustive()
    }
}
