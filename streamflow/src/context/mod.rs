//! What an operator gets beside its ports: streams, memory, and where it is.

mod stream;

use std::cell::{Cell, OnceCell, RefCell};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

pub use stream::{OnStream, Stream, StreamName};

use crate::driver::DeviceId;
use crate::error::{Error, Result};
use crate::memory::{Buffer, Download, Downloadable, Element, IntoShape, Pinned, Tensor};
use crate::message::{Metadata, Timestamp};
use crate::platform::Platform;
use crate::port::{How, StreamRef, Synchronized};
use crate::stream::{CudaStream, Point, StreamPool, StreamTable};

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
    internal: OnceCell<CudaStream>,
    /// The names that the operator declared, and their streams.
    names: &'static [&'static str],
    named: Box<[OnceCell<CudaStream>]>,
    /// Those that it named while running.
    found: boxcar::Vec<(String, CudaStream)>,
    default: OnceCell<CudaStream>,
    /// Whether this tick works on the default stream, for want of another.
    on_default: Cell<bool>,
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
    ) -> Self {
        Self {
            platform: platform.clone(),
            device,
            node: node.to_owned(),
            streams,
            internal: OnceCell::new(),
            names,
            named: names.iter().map(|_| OnceCell::new()).collect(),
            found: boxcar::Vec::new(),
            default: OnceCell::new(),
            on_default: Cell::new(false),
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
    /// it has one.
    pub fn device(&self) -> DeviceId {
        match (&self.streams, self.internal.get()) {
            (Streams::Adopt, Some(adopted)) => adopted.device(),
            _ => self.device,
        }
    }

    /// The node's name in its graph.
    pub fn node(&self) -> &str {
        &self.node
    }

    /// How many ticks this operator has done before this one.
    pub fn tick(&self) -> u64 {
        self.tick.get()
    }

    /// A stream that the operator declared, allocated from its pool the first time, and the same one
    /// from then on, in `start` as in `compute`. Holoscan's `allocate_cuda_stream`; its
    /// `device_from_stream` is [`stream.device()`](CudaStream::device), which can't fail.
    ///
    /// # Errors
    /// [`Error::PoolExhausted`]; [`Error::NoPool`] for an operator without a pool.
    pub fn allocate_cuda_stream(&self, name: StreamName<'_>) -> Result<Stream<'_>> {
        self.declared(name.index())
    }

    /// As [`allocate_cuda_stream`](Self::allocate_cuda_stream), by a name that is known only now. A
    /// name that the operator declared is that stream. Such streams are not counted while compiling,
    /// so an exhausted pool is found here; and the name is looked for in each call, so what is always
    /// needed is better declared.
    ///
    /// # Errors
    /// As for [`allocate_cuda_stream`](Self::allocate_cuda_stream).
    pub fn allocate_cuda_stream_named(&self, name: &str) -> Result<Stream<'_>> {
        if let Some(index) = self.names.iter().position(|declared| *declared == name) {
            return self.declared(index);
        }
        let known = self.found.iter().find(|(_, (known, _))| known == name);
        if let Some((_, (_, stream))) = known {
            return Ok(Stream::new(stream));
        }
        let stream = self.allocate(name)?;
        let index = self.found.push((name.to_owned(), stream));
        Ok(Stream::new(&self.found[index].1))
    }

    fn declared(&self, index: usize) -> Result<Stream<'_>> {
        let cell = &self.named[index];
        if cell.get().is_none() {
            let _first = cell.set(self.allocate(self.names[index])?);
        }
        stored(cell)
    }

    fn allocate(&self, name: &str) -> Result<CudaStream> {
        match &self.streams {
            Streams::Pool(pool) => pool.allocate(format!("{}.{name}", self.node)),
            Streams::Adopt => {
                Err(Error::NoPool { node: self.node.clone(), stream: name.to_owned() })
            }
        }
    }

    /// Makes work that is queued on `target` from now on come after the streams that messages came
    /// with, without blocking the host. Absent streams and `target` itself are passed over. What it
    /// gives opens the messages:
    ///
    /// ```
    /// # use streamflow::prelude::*;
    /// # #[operator(streams(work))]
    /// # struct Both { #[input] a: &Tensor<f32>, #[input] b: &Tensor<f32> }
    /// # impl Compute for Both {
    /// fn compute(&mut self, io: BothIo<'_>, cx: &ExecutionContext) -> Result<()> {
    ///     let (a, b) = (io.a.receive(), io.b.receive());
    ///     let target = cx.allocate_cuda_stream(io.work)?;
    ///     let after = cx.synchronize_streams(a.streams().chain(b.streams()), &target)?;
    ///     let (a, b) = (a.into_synchronized_data(&after)?, b.into_synchronized_data(&after)?);
    /// #   let _ = (a, b);
    ///     Ok(())
    /// }
    /// # }
    /// ```
    ///
    /// Holoscan's `synchronize_streams`, which makes the default stream wait as well, unasked.
    ///
    /// # Errors
    /// [`Error::ForeignPlatform`]; the driver's, when a wait fails.
    pub fn synchronize_streams<'c>(
        &self,
        streams: impl IntoIterator<Item = Option<StreamRef>>,
        target: &Stream<'c>,
    ) -> Result<Synchronized<'c>> {
        for stream in streams.into_iter().flatten() {
            target.wait(stream.point())?;
        }
        Ok(Synchronized::new(*target))
    }

    /// The legacy default stream of the operator's device. Work on it waits for streams that are
    /// made blocking, and they for it; order against all others comes with the data, as always.
    ///
    /// # Errors
    /// The driver's.
    pub fn default_stream(&self) -> Result<Stream<'_>> {
        if self.default.get().is_none() {
            let _first = self.default.set(self.platform.default_stream(self.device())?);
        }
        stored(&self.default)
    }

    /// A tensor whose first use may be on `stream`. Its content is undefined.
    ///
    /// # Errors
    /// [`Error::Shape`]; the driver's, when memory is exhausted.
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
    pub fn buffer<T: Element>(&self, len: usize, stream: &Stream<'_>) -> Result<Buffer<T>> {
        self.platform.buffer(len, stream)
    }

    /// Page-locked host memory. Its content is undefined.
    ///
    /// # Errors
    /// As for [`Platform::pinned`].
    pub fn pinned<T: Element>(&self, len: usize) -> Result<Pinned<T>> {
        self.platform.pinned(self.device(), len)
    }

    /// Queues a copy to the host on `stream`.
    ///
    /// # Errors
    /// As for [`Platform::download`].
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

    /// The internal stream, found as `H` says, which now waits for `sent`.
    pub(crate) fn receive_stream<H: How>(
        &self,
        sent: impl Iterator<Item = Point> + Clone,
    ) -> Result<Stream<'_>> {
        let stream = self.internal_stream::<H>(sent.clone())?;
        // Also where nothing is to wait for: an adopted stream may be on another device than the one
        // that was bound before the hook.
        stream.timeline().bind()?;
        for point in sent {
            stream.wait(point)?;
        }
        if H::TO_DEFAULT {
            let default = self.default_stream()?;
            if default.raw() != stream.raw() {
                default.wait(stream.record()?)?;
            }
        }
        Ok(stream)
    }

    fn internal_stream<H: How>(&self, mut sent: impl Iterator<Item = Point>) -> Result<Stream<'_>> {
        if self.internal.get().is_none() {
            let allocated = match &self.streams {
                Streams::Pool(pool) if H::ALLOCATE => match pool.allocate(self.node.clone()) {
                    Err(Error::PoolExhausted { .. }) if H::ADOPT => None,
                    other => Some(other?),
                },
                _ => None,
            };
            // A node without a pool said that it works where its messages do.
            let mut default = H::DEFAULT;
            let found = allocated.or_else(|| {
                let named = sent.find(|point| {
                    let is_default = self.table().is_default(point.stream());
                    default |= is_default && matches!(self.streams, Streams::Adopt);
                    !is_default
                })?;
                Some(self.platform.stream_of(named))
            });
            match found {
                Some(stream) => drop(self.internal.set(stream)),
                None if default => {
                    self.on_default.set(true);
                    return self.default_stream();
                }
                None => return Err(Error::NothingToAdopt { node: self.node.clone() }),
            }
        }
        stored(&self.internal)
    }

    /// The internal stream for an output.
    pub(crate) fn sending_stream(&self, port: &str) -> Result<&CudaStream> {
        let default = self.default.get().filter(|_| self.on_default.get());
        let none = || Error::NoStream { node: self.node.clone(), port: port.to_owned() };
        self.internal.get().or(default).ok_or_else(none)
    }

    pub(crate) fn table(&self) -> &StreamTable {
        self.platform.streams()
    }

    pub(crate) fn note_metadata(&self, received: &Metadata) {
        self.metadata.borrow_mut().merge(received);
    }

    /// What a message that is emitted now carries.
    pub(crate) fn metadata(&self) -> Metadata {
        let mut metadata = self.metadata.borrow_mut();
        if metadata.acquired().is_none() {
            // Once: all that a tick emits was acquired at one moment.
            metadata.set_acquired(Timestamp::now());
        }
        metadata.clone()
    }

    /// Before a hook: binds the device, since libraries switch it.
    pub(crate) fn enter(&self) -> Result<()> {
        self.metadata.borrow_mut().clear();
        self.on_default.set(false);
        Ok(self.platform.driver().bind(self.device())?)
    }

    /// After a hook, however it ended: records what it queued, once per stream (law 8), unless only
    /// one stream can ever need it.
    pub(crate) fn close(&self, alone: bool) -> Result<()> {
        if alone {
            return Ok(());
        }
        self.own_streams().try_for_each(|stream| Ok(stream.timeline().close()?))
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
        self.own_streams().try_for_each(CudaStream::synchronize_blocking)
    }

    fn own_streams(&self) -> impl Iterator<Item = &CudaStream> {
        let fixed = [&self.internal, &self.default];
        let found = self.found.iter().map(|(_, (_, stream))| stream);
        fixed.into_iter().chain(&self.named).filter_map(OnceCell::get).chain(found)
    }
}

fn stored(cell: &OnceCell<CudaStream>) -> Result<Stream<'_>> {
    match cell.get() {
        Some(stream) => Ok(Stream::new(stream)),
        None => unreachable!("the stream was stored just now"),
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
