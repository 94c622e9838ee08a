//! The context of an operator: all that a hook gets besides the ports. [`ExecutionContext`] is the second argument of each hook:
//! it has the operator's streams, its memory, its node and its tick. A [`Stream`] is borrowed for one tick. An [`OnStream`]
//! stores a value that belongs to a stream for longer, a [`Table`] stores constants in device memory, and a [`Waker`] wakes the
//! scheduler from another thread.

pub(crate) mod activity;
mod cached;
pub(crate) mod control;
mod hook;
mod hook_thread;
mod notes;
mod own_streams;
mod planned;
pub(crate) mod single_stream;
pub(crate) mod stream;
mod stream_policy;
mod stream_ref;
mod streams;
pub(crate) mod table;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

pub(crate) use activity::Word;
pub(crate) use activity::{Activity, NodeCell};
use cached::Cached;
pub use cached::Lent;
pub use control::Waker;
pub(crate) use control::{Command, Sleeper, StopSource};
pub(crate) use control::{RunControl, RunPhase};
pub(crate) use execution_context::ExecutionContext;
use notes::Notes;
use own_streams::OwnStreams;
pub(crate) use own_streams::Streams;
pub(crate) use planned::Planned;
pub(crate) use planned::{Budget, Chain};
pub(crate) use single_stream::SingleStream;
pub(crate) use stream::Stream;
pub use stream::{OnStream, StreamName};
pub(crate) use stream_policy::StreamPolicy;
pub use stream_ref::{StreamRef, Synchronized};
pub(crate) use table::Table;

use crate::driver::DeviceId;
use crate::driver::current;
use crate::error::{Error, Failure, Result, did_you_mean};
use crate::memory::{
    Buffer, CopySource, Download, Element, IntoShape, Pinned, PitchedTensor, Tensor,
};
use crate::platform::Platform;
use crate::stream::{CudaStream, StreamTable};
use crate::time::Timestamp;

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
            notes: Notes::new(node),
            platform: platform.clone(),
            driver: platform.driver().clone(),
            cell: Arc::new(NodeCell::new(node, Box::default())),
            run: Arc::default(),
            streams: OwnStreams::new(
                device,
                streams,
                names,
                single_stream,
                platform.device_count(),
            ),
            node: node.to_owned(),
            cached: Cached::default(),
        }
    }

    /// Returns the platform on which the graph runs.
    pub fn platform(&self) -> &Platform {
        &self.platform
    }

    /// Returns the device of this operator's streams. An operator that adopts a stream is on device 0 until it has adopted one.
    /// In a tick that received messages from a default stream, it is on the device of that stream.
    pub fn device(&self) -> DeviceId {
        self.streams.device()
    }

    /// Returns the conditions of the node other than `count`, as the user wrote them in `#[when(…)]`.
    pub fn conditions(&self) -> &[&'static str] {
        self.cell.conditions()
    }

    /// Returns the node's name in its graph.
    pub fn node(&self) -> &str {
        &self.node
    }

    /// Returns how many ticks this operator has done before this one in this run: 0 in the first tick. The next run of the same
    /// graph counts from 0 again, although the operator's state stays.
    pub fn tick(&self) -> u64 {
        self.notes.tick.get()
    }

    /// Returns the names of all nodes of the graph, in an order in which producers come before their consumers.
    pub fn nodes(&self) -> impl Iterator<Item = &str> {
        self.run.nodes().iter().map(|cell| cell.name())
    }

    /// Returns what a node of the graph does now. In `compute`, the node of this context is `Computing`.
    ///
    /// # Errors
    /// [`Error::UnknownNode`], with the most similar name of a node.
    pub fn activity_of(&self, node: &str) -> Result<Activity> {
        Ok(self.cell_of(node)?.word().activity())
    }

    /// Returns how many ticks a node of the graph has done in this run.
    ///
    /// # Errors
    /// [`Error::UnknownNode`], with the most similar name of a node.
    pub fn ticks_of(&self, node: &str) -> Result<u64> {
        Ok(self.cell_of(node)?.word().ticks())
    }

    fn cell_of(&self, node: &str) -> Result<&NodeCell> {
        let cell = self.run.nodes().iter().find(|cell| cell.name() == node);
        cell.map(|cell| &**cell).ok_or_else(|| {
            let hint = did_you_mean(node, self.nodes());
            Error::UnknownNode { node: node.to_owned(), hint }
        })
    }

    /// Returns the current time, by the platform's [clock](crate::time::Clock).
    #[inline]
    pub fn now(&self) -> Timestamp {
        self.platform.clock().now()
    }

    /// Lets time pass in this hook, by the platform's [clock](crate::time::Clock), as a slow device would. With a simulated
    /// clock, other workers run in that time, and no real time passes. The call returns early when the run ends: because it is
    /// stopped, because another node fails, or because the time of `run_for` is over.
    pub fn sleep(&self, time: Duration) {
        self.run.sleep(self.platform.clock(), time);
    }

    /// Creates a tensor that is first used on `stream`. Its content is undefined.
    ///
    /// # Errors
    /// [`Error::Shape`]; errors of the driver, when memory is exhausted.
    #[track_caller]
    pub fn tensor<T: Element>(
        &self,
        shape: impl IntoShape,
        stream: &Stream<'_>,
    ) -> Result<Tensor<T>> {
        self.platform.tensor(shape, stream)
    }

    /// Creates a tensor with padded rows that is first used on `stream`. Its content is undefined.
    ///
    /// # Errors
    /// As for [`tensor`](Self::tensor).
    #[track_caller]
    pub fn pitched_tensor<T: Element>(
        &self,
        shape: impl IntoShape,
        stream: &Stream<'_>,
    ) -> Result<PitchedTensor<T>> {
        self.platform.pitched_tensor(shape, stream)
    }

    /// Creates a buffer of `len` elements that is first used on `stream`. Its content is undefined.
    ///
    /// # Errors
    /// As for [`tensor`](Self::tensor).
    #[track_caller]
    pub fn buffer<T: Element>(&self, len: usize, stream: &Stream<'_>) -> Result<Buffer<T>> {
        self.platform.buffer(len, stream)
    }

    /// Allocates page-locked host memory for `len` elements. Its content is undefined.
    ///
    /// # Errors
    /// As for [`Platform::pinned`].
    #[track_caller]
    pub fn pinned<T: Element>(&self, len: usize) -> Result<Pinned<T>> {
        self.platform.pinned(self.device(), len)
    }

    /// Copies host memory to the operator's device, as a tensor of one dimension, which any stream may use. The call blocks until
    /// the host memory may be changed, so it is for values that are made once, in `start`. A [`Table`] stores such values.
    /// [`Pinned`] shows how a source uploads data in each tick.
    ///
    /// # Errors
    /// As for [`tensor`](Self::tensor).
    #[track_caller]
    pub fn upload<T: Element>(&self, values: &[T]) -> Result<Tensor<T>> {
        self.platform.upload_to(self.device(), values)
    }

    /// Queues a copy of device memory to the host on `stream`.
    ///
    /// # Errors
    /// As for [`Platform::download`].
    #[track_caller]
    pub fn download<T: Element>(
        &self,
        source: &(impl CopySource<T> + ?Sized),
        stream: &Stream<'_>,
    ) -> Result<Download<T>> {
        self.platform.download(source, stream)
    }

    /// Makes a value that needs a stream and that lives longer than a tick, as the handle of a library.
    ///
    /// # Errors
    /// The errors of `make`.
    pub fn on_stream<H>(
        &self,
        stream: &Stream<'_>,
        make: impl FnOnce(&CudaStream) -> Result<H, Failure>,
    ) -> Result<OnStream<H>> {
        let _other = current::other_code();
        Ok(OnStream::new(stream, make(stream)?))
    }

    /// Ends this operator: it does not run again in this run. A source without a `count` calls this function when it has no more
    /// data.
    pub fn finish(&self) {
        self.notes.is_finished.set(true);
    }

    /// Ends the run after this tick. Messages that wait in queues are dropped. A source without further data should call
    /// [`finish`](Self::finish) instead: then the messages that it sent are still consumed.
    pub fn stop_graph(&self) {
        if self.run.stop(StopSource::Node) {
            self.notes.has_stopped_graph.set(true);
        }
    }

    pub(crate) fn table(&self) -> &StreamTable {
        self.platform.streams()
    }

    /// Blocks the host until all work on the operator's streams is complete.
    pub(crate) fn synchronize_blocking(&self) -> Result<()> {
        self.streams.synchronize_blocking()
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

/// The type of a hook's context. Its methods are in the files of the parent module, by purpose.
pub(crate) mod execution_context {
    use std::sync::Arc;

    use super::cached::Cached;
    use super::notes::Notes;
    use super::own_streams::OwnStreams;
    use super::{NodeCell, RunControl};
    use crate::driver::Driver;
    use crate::platform::Platform;

    /// The second argument of each hook: the operator's streams, its memory, its node and its tick.
    // The fields are in this order because the ticks of most nodes use only the first ones and the start of `streams`.
    #[repr(C)]
    pub struct ExecutionContext {
        pub(super) notes: Notes,
        pub(super) platform: Platform,
        /// The platform's driver.
        pub(super) driver: Arc<dyn Driver>,
        /// The part of the node's state that other threads may read.
        pub(super) cell: Arc<NodeCell>,
        /// The control of the run of the whole graph.
        pub(super) run: Arc<RunControl>,
        pub(super) streams: OwnStreams,
        /// The node's name in its graph.
        pub(super) node: String,
        /// The values that the node stores between its ticks, as plans of stateless library calls.
        pub(super) cached: Cached,
    }
}
