//! The context of an operator: everything that it gets beside its ports. [`ExecutionContext`] is the second argument of
//! each hook: it has the operator's streams, its memory, its node and its tick. A [`Stream`] is borrowed for one tick;
//! an [`OnStream`] keeps a value that belongs to a stream for longer, a [`Table`] keeps constants in device memory, and
//! a [`Waker`] wakes the node from outside.

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

    /// The platform that the graph runs on.
    pub fn platform(&self) -> &Platform {
        &self.platform
    }

    /// The device of this operator's streams. An operator that adopts a stream is on device 0 until it has one. In a
    /// tick with messages from a default stream, it is on the device of that stream.
    pub fn device(&self) -> DeviceId {
        self.streams.device()
    }

    /// The conditions of the node other than its count, as written in `#[when(…)]`.
    pub fn conditions(&self) -> &[&'static str] {
        self.cell.conditions()
    }

    /// The node's name in its graph.
    pub fn node(&self) -> &str {
        &self.node
    }

    /// The number of ticks of this operator in this run before this one: 0 in the first tick. Another run of the same
    /// graph counts from 0 again, although the operator keeps its state.
    pub fn tick(&self) -> u64 {
        self.notes.tick.get()
    }

    /// The names of all nodes of the graph, producers before consumers.
    pub fn nodes(&self) -> impl Iterator<Item = &str> {
        self.run.nodes().iter().map(|cell| cell.name())
    }

    /// The activity of a node of the graph. The node of this context itself is computing.
    ///
    /// # Errors
    /// [`Error::UnknownNode`], with the nearest name.
    pub fn activity_of(&self, node: &str) -> Result<Activity> {
        Ok(self.cell_of(node)?.word().activity())
    }

    /// The number of ticks of a node of the graph in this run.
    ///
    /// # Errors
    /// [`Error::UnknownNode`], with the nearest name.
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

    /// The present moment, by the platform's [clock](crate::time::Clock).
    #[inline]
    pub fn now(&self) -> Timestamp {
        self.platform.clock().now()
    }

    /// Lets time pass in this hook, by the platform's [clock](crate::time::Clock), as a slow device would. With a simulated
    /// clock, other workers run meanwhile, and no real time passes. The call returns early when the run ends, as by a
    /// stop, by the failure of another node, or since the time of `run_for` is over.
    pub fn sleep(&self, time: Duration) {
        self.run.sleep(self.platform.clock(), time);
    }

    /// Creates a tensor for a first use on `stream`. The content is undefined.
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

    /// Creates a tensor with padded rows for a first use on `stream`. The content is undefined.
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

    /// Creates a buffer of elements for a first use on `stream`. The content is undefined.
    ///
    /// # Errors
    /// As for [`tensor`](Self::tensor).
    #[track_caller]
    pub fn buffer<T: Element>(&self, len: usize, stream: &Stream<'_>) -> Result<Buffer<T>> {
        self.platform.buffer(len, stream)
    }

    /// Allocates page-locked host memory. The content is undefined.
    ///
    /// # Errors
    /// As for [`Platform::pinned`].
    #[track_caller]
    pub fn pinned<T: Element>(&self, len: usize) -> Result<Pinned<T>> {
        self.platform.pinned(self.device(), len)
    }

    /// Copies host memory to the operator's device, as a tensor of one dimension. Any stream may use it. Blocks until
    /// the host memory may be changed: the call is for values that are made once, in `start`. A [`Table`] keeps such
    /// values. [`Pinned`] shows how a source uploads data in each tick.
    ///
    /// # Errors
    /// As for [`tensor`](Self::tensor).
    #[track_caller]
    pub fn upload<T: Element>(&self, values: &[T]) -> Result<Tensor<T>> {
        self.platform.upload_to(self.device(), values)
    }

    /// Queues a copy to the host on `stream`.
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

    /// Makes a value that needs a stream and lives longer than a tick.
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

    /// Ends this operator: it does not run again. A source without a count calls it at its end.
    pub fn finish(&self) {
        self.notes.is_finished.set(true);
    }

    /// Ends the run after this tick. Messages that wait in queues are dropped. A source without further data calls
    /// [`finish`](Self::finish) instead: the messages that it sent are then consumed.
    pub fn stop_graph(&self) {
        if self.run.stop(StopSource::Node) {
            self.notes.has_stopped_graph.set(true);
        }
    }

    pub(crate) fn table(&self) -> &StreamTable {
        self.platform.streams()
    }

    /// Blocks until all work of the operator's streams is complete.
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

/// The type of a hook's context. The other files have its methods, by purpose.
pub(crate) mod execution_context {
    use std::sync::Arc;

    use super::cached::Cached;
    use super::notes::Notes;
    use super::own_streams::OwnStreams;
    use super::{NodeCell, RunControl};
    use crate::driver::Driver;
    use crate::platform::Platform;

    /// The second argument of each hook: the operator's streams, its memory, its node and its tick.
    // The fields are in this order because the ticks of most nodes use only the first ones and the begin of `streams`.
    #[repr(C)]
    pub struct ExecutionContext {
        pub(super) notes: Notes,
        pub(super) platform: Platform,
        /// The platform's driver.
        pub(super) driver: Arc<dyn Driver>,
        /// The part of the node that other threads see.
        pub(super) cell: Arc<NodeCell>,
        /// The control of the whole graph's run.
        pub(super) run: Arc<RunControl>,
        pub(super) streams: OwnStreams,
        /// The node's name in its graph.
        pub(super) node: String,
        /// Plans of stateless library calls.
        pub(super) cached: Cached,
    }
}
