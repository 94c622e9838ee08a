//! The one seam between streamflow and the driver that executes its work.
//!
//! [`Driver`] is the trait, and its methods are CUDA's calls; [`cuda`] implements it with a real GPU, [`host`] with a
//! simulator of CUDA's ordering rules. A [`Layer`] wraps another driver and overrides only the calls that differ:
//! the [race checker](race) is one, the driver that [replays](replay) passes is one, and so are the call recorder and the
//! fault injectors of the tests. No code above this module depends on which driver runs.
//!
//! Two more traits are beside the calls, and a driver returns its own or those of the driver below. An [`Observer`] is told
//! what no call shows, as that memory passes to a new owner, and reports what it has found. [`Libraries`] calls functions
//! of NVIDIA's libraries.
//!
//! The seam has raw handles: contexts, streams, events, memory, kernels and host functions. Ports,
//! operators and graphs are above it.

mod asker;
mod blocking;
pub mod cuda;
#[doc(hidden)]
pub mod current;
mod error;
mod foreign_stream;
pub mod graph;
mod green;
mod handle;
/// The simulator, as a driver: [`HostDriver`](host::HostDriver), and the orders in which it executes.
///
pub mod host;
mod kernel;
mod layer;
mod libraries;
mod library;
mod listeners;
mod memory_source;
mod note;
mod observer;
mod owned;
mod passes;
#[doc(hidden)]
pub mod promise;
pub mod race;
mod raise;
mod recorder;
pub mod replay;
mod report;
mod rows;
mod signal;

#[doc(hidden)]
pub use asker::Asker;
#[doc(hidden)]
pub use blocking::BlockingLaunches;
pub use error::{DriverError, Sticky};
#[doc(hidden)]
pub use error::{first_error, report_in_drop, report_unless_refused};
pub use green::{Coscheduling, GreenContext, SmSizes};
pub use handle::{
    BorrowedEvent, BorrowedStream, DeviceId, MemoryRange, RawEvent, RawFunction, RawGraph,
    RawModule, RawStream,
};
#[doc(hidden)]
pub use host::is_inside as is_inside_a_body;
pub use kernel::{
    Access, AccessMode, Code, HostArgs, HostFunction, HostKernel, Image, KernelSource, Launch,
    LoadedKernel, MAX_PARAMS, Param, Plain, RowsAt, Target,
};
pub use layer::Layer;
pub use libraries::Libraries;
use library::BodyId;
pub use library::{BodyError, LibraryBody, LibraryCall, LibraryCalls, LibraryError};
#[doc(hidden)]
pub use listeners::Listeners;
pub use memory_source::MemorySource;
#[doc(hidden)]
pub use note::{Direction, Note, SourceLocation};
pub use observer::Observer;
#[doc(hidden)]
pub use owned::{Event, OwnedEvent, OwnedEvents, OwnedPinned, OwnedStream};
#[doc(hidden)]
pub use recorder::{Call, RecordedAccess, RecordedRange, Recorder, StreamLabel};
#[doc(hidden)]
pub use report::RaceReports;
pub use rows::{CopyRows, RowLevel, Rows};
#[doc(hidden)]
pub use signal::Signal;

use std::fmt;

/// The result of a driver call.
pub type DriverResult<T> = Result<T, DriverError>;

/// A device's properties.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeviceInfo {
    /// The device's own name, as `NVIDIA H200`.
    pub name: String,
    /// The number by which other code of the process knows the device: CUDA's. `None` for a simulated device, whose
    /// memory is ordinary host memory.
    pub ordinal: Option<u32>,
    /// Compute capability, major and minor. A simulated device has that of its
    /// [builder](host::HostBuilder::compute_capability).
    pub compute_capability: (u32, u32),
    /// Streaming multiprocessors.
    pub multiprocessors: u32,
    /// Bytes of device memory.
    pub total_memory: u64,
    /// The numerically lowest (most urgent) and highest (least urgent) stream priority.
    pub priorities: (i32, i32),
    /// The most shared memory of a block in bytes, static and dynamic together.
    pub max_shared_bytes: u32,
    /// Whether the device is simulated: its times say nothing about a GPU.
    pub is_simulated: bool,
    /// Whether a stream can wait for all work of the device, also of other code: [`Driver::wait_for_device`]. A driver of CUDA
    /// 12.5 can. Memory that other code has comes back that way.
    pub waits_for_device: bool,
}

/// How a stream is ordered against the legacy default stream of its device.
///
/// See *Stream synchronization behavior* in the CUDA driver API reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum StreamFlags {
    /// No implicit ordering against the default stream. streamflow's own streams are like this: it
    /// makes every dependency explicit, so an implicit barrier can only cost time.
    #[default]
    NonBlocking,
    /// Work on the default stream waits for this stream's work, and the other way round.
    Blocking,
}

/// Source and target memory of a copy, and whether the call waits for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CopyKind {
    /// Page-locked host memory to a device, asynchronous.
    PinnedToDevice,
    /// Ordinary host memory to a device. Returns when the host memory may be changed.
    PageableToDevice,
    /// A device to page-locked host memory, asynchronous.
    DeviceToPinned,
    /// A device to ordinary host memory. Returns when the copy is complete.
    DeviceToPageable,
    /// Within one device, asynchronous.
    DeviceToDevice,
    /// From one device to another, asynchronous, on a stream of either.
    Peer {
        /// The device that is read.
        from: DeviceId,
        /// The device that is written.
        to: DeviceId,
    },
}

impl CopyKind {
    /// Whether the call returns only when the copy no longer needs the host memory.
    pub const fn blocks_host(self) -> bool {
        matches!(self, Self::PageableToDevice | Self::DeviceToPageable)
    }
}

/// A copy, from `source` to `target`: of all bytes, and then both have the same length, or of [rows](CopyRows).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CopyOp {
    /// Which sides are on the host.
    pub kind: CopyKind,
    /// Where the copy writes: a device address, or a host address as an integer. With rows it ends with the last row.
    pub target: MemoryRange,
    /// Where the copy reads. With rows it ends with the last row.
    pub source: MemoryRange,
    /// The rows, if gaps are between them. Not between devices.
    pub rows: Option<CopyRows>,
}

/// The options of a new stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StreamOptions {
    /// The order against the default stream.
    pub flags: StreamFlags,
    /// CUDA's priority: lower is more urgent, 0 the default. Must be within [`DeviceInfo::priorities`].
    pub priority: i32,
    /// The green context whose multiprocessors its kernels use; `None` for all of the device's. Such a
    /// stream is non-blocking.
    pub green: Option<GreenContext>,
}

/// Executes streams, events, copies and kernels. See the [module](self).
///
/// Calls may come from any thread. Handles are plain numbers, valid until they are destroyed. The result of
/// using a stale one is an error or, on a real GPU, undefined behaviour: therefore each method that takes
/// an address or a handle is an `unsafe fn`. A handle is *live* when it came from this driver and was not
/// destroyed.
///
/// # Bodies
/// A simulator executes the bodies of kernels and of library functions, and host functions, in the calls that queue work,
/// query, wait or free page-locked memory, and in [`catch_up`](Observer::catch_up). Callers make these without a lock of this
/// library, or within a section after which they catch up. All other calls execute none, also in a layer: those that
/// describe, bind, create, destroy, load and hand out, [`record_event`](Self::record_event) and
/// [`wait_event`](Self::wait_event). They are made under locks.
///
/// # Safety
/// Callers rely on a driver's answers to read and write memory.
/// - Memory that it allocates is real, of the requested size, aligned to 256 bytes, and has no other owner
///   until it is freed. Page-locked memory can be accessed by the host.
/// - A stream executes its work in order, and after the records that
///   [`wait_event`](Driver::wait_event) made it wait for.
/// - Calls of several threads for one stream or one event take effect one after the other, as under a lock: the thread of
///   a later call sees all that the thread of an earlier one had written before its call. If a thread records or
///   synchronises a stream while another one queues work there, that holds for what it has written before a sequentially
///   consistent fence before its call: a driver that [replays](replay) takes some calls without a lock.
/// - Work that a query or a synchronisation reports as complete has executed, and the host sees what it
///   wrote.
/// - A copy that [blocks the host](CopyKind::blocks_host) no longer touches host memory once the call has
///   returned, also with an error.
/// - A loaded kernel is the one of its source, and stays loaded while the driver lives.
/// - A stream, an event and a graph that it makes is of the named device, and no other live one has its handle. A default
///   stream is never made.
/// - Work that a call accepts is done once and whole, on the call's stream: a copy of all bytes, a fill, a launch, a call of a
///   host function, a launch of a graph with its latest parameters, a free. Work whose host function is never called
///   never completes, and a program that waits for it waits for ever.
/// - How many devices there are, and their properties, stay the same while the driver lives.
/// - Each fact that the [observer](Self::observer) is told reaches that of the driver below, unchanged.
///
/// An answer that shows by itself that a promise is broken is a [`DriverError::Contract`]: memory of another size or place,
/// an object of another device, a kernel whose blocks have no threads, a time that is none, too few green contexts, and for a
/// simulated device an observer that is not the simulator's. Nothing checks the others on a GPU: they are the driver's responsibility.
pub unsafe trait Driver: Send + Sync + fmt::Debug {
    /// `"cuda"`, `"host"`, or for a layer the name of the driver below.
    fn name(&self) -> &str;

    /// How many devices there are; their numbers are `0..device_count()`.
    fn device_count(&self) -> usize;

    /// The properties of a device.
    fn device_info(&self, device: DeviceId) -> DriverResult<DeviceInfo>;

    /// Makes the device's context current on the calling thread. Cheap when it is current already.
    ///
    /// A call for which the wrong context is current fails, or on a GPU may work on the wrong device. This one is
    /// needed by the calls that make a stream or an event, and by those with a default stream, whose handle means the
    /// current device. All others that queue, query, wait, free or destroy need any context of this driver; those that
    /// load code, and those about multiprocessors, bind the device themselves.
    fn bind(&self, device: DeviceId) -> DriverResult<()>;

    /// The error after which the device executes nothing any more, if there was one.
    fn sticky_error(&self) -> Option<Sticky>;

    /// The legacy default stream of a device.
    fn default_stream(&self, device: DeviceId) -> RawStream;

    /// The device of a stream that other code made, from its handle.
    ///
    /// The call fails for a handle of no live stream where the driver finds that out, which CUDA does not promise, and
    /// for a stream of a context that is neither the primary one of a device of this driver nor a green one of it.
    ///
    /// # Safety
    /// The handle is that of a stream which was not destroyed, and not 0, 1 or 2, which name default streams.
    unsafe fn device_of_stream(&self, handle: u64) -> DriverResult<DeviceId>;

    /// Creates a stream.
    fn create_stream(&self, device: DeviceId, options: StreamOptions) -> DriverResult<RawStream>;

    /// The sizes into which a device's multiprocessors can be divided.
    fn sm_sizes(&self, device: DeviceId, coscheduling: Coscheduling) -> DriverResult<SmSizes>;

    /// Divides a device's multiprocessors: returns a green context of each size, in order, and one of the
    /// remaining multiprocessors if there are any. The sizes are legal, and their sum is at most the device's
    /// total. Another call divides the same multiprocessors again.
    fn create_green_contexts(
        &self,
        device: DeviceId,
        coscheduling: Coscheduling,
        sizes: &[u32],
    ) -> DriverResult<Vec<GreenContext>>;

    /// Destroys a stream; its queued work still executes.
    ///
    /// # Safety
    /// `stream` came from [`create_stream`](Driver::create_stream) of this driver, is not used
    /// afterwards and not destroyed twice.
    unsafe fn destroy_stream(&self, stream: RawStream) -> DriverResult<()>;

    /// Whether all work queued on `stream` so far is complete.
    ///
    /// # Safety
    /// `stream` is live.
    unsafe fn query_stream(&self, stream: RawStream) -> DriverResult<bool>;

    /// Blocks the calling thread until all work queued on `stream` so far is complete.
    ///
    /// # Safety
    /// `stream` is live.
    unsafe fn synchronize_stream(&self, stream: RawStream) -> DriverResult<()>;

    /// Creates an event without timing.
    fn create_event(&self, device: DeviceId) -> DriverResult<RawEvent>;

    /// Creates an event whose records have a time. A record of it costs several times as much.
    fn create_timing_event(&self, device: DeviceId) -> DriverResult<RawEvent>;

    /// The time between the latest records of two events with timing, in milliseconds: negative when
    /// `end` was reached first. On a GPU the device's clock counts, with a resolution of about half a
    /// microsecond; on the simulator a simulated clock, see [`host`].
    ///
    /// # Safety
    /// Both are live, of one device, made by [`create_timing_event`](Driver::create_timing_event),
    /// and their records are complete.
    unsafe fn elapsed(&self, start: RawEvent, end: RawEvent) -> DriverResult<f64>;

    /// Destroys an event.
    ///
    /// # Safety
    /// As for [`destroy_stream`](Driver::destroy_stream).
    unsafe fn destroy_event(&self, event: RawEvent) -> DriverResult<()>;

    /// Records `event` on `stream`: the record is complete when all work queued there before is complete. If the
    /// call fails, the event keeps its previous record.
    ///
    /// # Safety
    /// Both are live.
    unsafe fn record_event(&self, event: RawEvent, stream: RawStream) -> DriverResult<()>;

    /// Makes later work on `stream` wait for the latest record of `event`. An event that was never
    /// recorded counts as complete.
    ///
    /// # Safety
    /// Both are live.
    unsafe fn wait_event(&self, stream: RawStream, event: RawEvent) -> DriverResult<()>;

    /// Whether the latest record of `event` is complete.
    ///
    /// # Safety
    /// `event` is live.
    unsafe fn query_event(&self, event: RawEvent) -> DriverResult<bool>;

    /// Blocks the calling thread until the latest record of `event` is complete.
    ///
    /// # Safety
    /// `event` is live, until the call returns.
    unsafe fn synchronize_event(&self, event: RawEvent) -> DriverResult<()>;

    /// Allocates device memory in stream order: work queued on `stream` after this call may use it. The
    /// content is not initialised. `source` says what it may be made of. A driver may wait on the host where the device is out
    /// of memory, for memory whose free is not done.
    ///
    /// # Safety
    /// `stream` is live.
    unsafe fn allocate(
        &self,
        stream: RawStream,
        bytes: u64,
        source: MemorySource,
    ) -> DriverResult<MemoryRange>;

    /// Frees device memory in stream order.
    ///
    /// # Safety
    /// `stream` is live, and `range` came from [`allocate`](Driver::allocate) of this driver and is
    /// freed once. Every use of it is complete, or ordered before this point of `stream`.
    unsafe fn free(&self, stream: RawStream, range: MemoryRange) -> DriverResult<()>;

    /// Makes later work on `stream` wait for all work of its device that was queued so far, on each stream of the
    /// process, also by other code. The device must be bound.
    ///
    /// # Safety
    /// `stream` is live.
    unsafe fn wait_for_device(&self, stream: RawStream) -> DriverResult<()>;

    /// Gives free memory beyond `keep` bytes back to the system.
    fn trim(&self, device: DeviceId, keep: u64) -> DriverResult<()>;

    /// Allocates page-locked host memory that the device can read and write.
    fn allocate_pinned(&self, device: DeviceId, bytes: u64) -> DriverResult<MemoryRange>;

    /// Frees page-locked memory; may synchronise the device.
    ///
    /// # Safety
    /// `range` came from [`allocate_pinned`](Driver::allocate_pinned) of this driver and device, is
    /// freed once, and no queued work uses it.
    unsafe fn free_pinned(&self, device: DeviceId, range: MemoryRange) -> DriverResult<()>;

    /// Queues a copy.
    ///
    /// # Safety
    /// `stream` is live. Both ranges are allocated and of one length, or as long as the rows need, and stay so until the
    /// copy has executed. No other code accesses the host memory meanwhile in a way that conflicts.
    unsafe fn copy(&self, stream: RawStream, copy: &CopyOp) -> DriverResult<()>;

    /// Queues a fill of `range` with a byte.
    ///
    /// # Safety
    /// `stream` is live, and `range` is device memory that is allocated until the fill has executed.
    unsafe fn fill(&self, stream: RawStream, range: MemoryRange, byte: u8) -> DriverResult<()>;

    /// Loads compiled code on a device. It stays loaded while the driver lives. `name` is for
    /// messages.
    ///
    /// # Safety
    /// `image` is text or a complete CUBIN or fatbin. A CUDA driver compiles text as PTX, and refuses it
    /// otherwise. Of a CUBIN or fatbin it reads as many bytes as their header says.
    unsafe fn load_module(
        &self,
        device: DeviceId,
        name: &str,
        image: &Image,
    ) -> DriverResult<RawModule>;

    /// Makes a kernel ready to launch on a device.
    ///
    /// # Safety
    /// An image of the source is as [`load_module`](Driver::load_module) requires; a module belongs to this
    /// driver and device.
    unsafe fn load_kernel(
        &self,
        device: DeviceId,
        source: &KernelSource<'_>,
    ) -> DriverResult<LoadedKernel>;

    /// Queues a kernel. Parameters are copied before the call returns.
    ///
    /// # Safety
    /// `stream` and the function are live. The parameters are those that the kernel was compiled for, and the
    /// memory that it touches is allocated until it has executed.
    unsafe fn launch(&self, stream: RawStream, launch: &Launch<'_>) -> DriverResult<()>;

    /// Queues a call on the host. Later work of the stream waits until it has returned.
    ///
    /// # Safety
    /// `stream` is live. `function.data` is valid for `function.call` until the call was made. The callee makes no
    /// CUDA calls and does not unwind (CUDA driver API, `cuLaunchHostFunc`). After a sticky error the driver
    /// may never call it.
    unsafe fn launch_host_function(
        &self,
        stream: RawStream,
        function: HostFunction,
    ) -> DriverResult<()>;

    /// Makes an executable graph of work with edges. Its nodes come after those that they name, which have lower indices.
    /// The device must be bound.
    ///
    /// A driver without graphs refuses it, and then nothing is replayed.
    ///
    /// # Safety
    /// The functions and the graphs are live. The body of a library's call queues work as
    /// [`call_library`](Libraries::call_library) requires, on the stream that it gets. The memory of the nodes is what
    /// [`launch_graph`](Driver::launch_graph) requires when it is called.
    unsafe fn create_graph(
        &self,
        device: DeviceId,
        nodes: &[graph::GraphNode<'_>],
    ) -> DriverResult<RawGraph> {
        let _ = (device, nodes);
        Err(DriverError::Unavailable {
            what: format!("the driver `{}` has no graphs", self.name()),
            remedy: "leave `#[replay]` out, or use a driver that has them".to_owned(),
        })
    }

    /// Queues all work of a graph: after what was queued on `stream` before, and before what is queued there later. Work
    /// of two launches of a graph never runs at the same time.
    ///
    /// # Safety
    /// `graph` and `stream` are live and of one device. For each node the contract of the call that it stands for holds. Its
    /// memory was not given back since the graph was made, also if memory at the same address is allocated now.
    unsafe fn launch_graph(&self, graph: RawGraph, stream: RawStream) -> DriverResult<()> {
        let _ = (graph, stream);
        Ok(())
    }

    /// Gives a launch of a graph other parameters: the node with this index in the list that the graph was made of. Later
    /// launches of the graph have them; earlier ones keep those that they had (CUDA driver API,
    /// `cuGraphExecKernelNodeSetParams`). After an error the node has either.
    ///
    /// A driver that can't refuses it, and then the calls of such ticks are sent one by one.
    ///
    /// # Safety
    /// `graph` is live, and not in use by another thread. The node is a launch, and differs from `launch` in parameters
    /// alone: it has the same function, grid, block, shared memory and accesses, and as many parameters.
    unsafe fn set_graph_kernel(
        &self,
        graph: RawGraph,
        node: u32,
        launch: &Launch<'_>,
    ) -> DriverResult<()> {
        let _ = (graph, node, launch);
        Err(DriverError::Unavailable {
            what: format!("the driver `{}` can't change a graph", self.name()),
            remedy: "keep the parameters of kernels, or leave `#[replay]` out".to_owned(),
        })
    }

    /// Destroys a graph; its queued launches still execute (CUDA driver API, `cuGraphExecDestroy`).
    ///
    /// # Safety
    /// `graph` came from [`create_graph`](Driver::create_graph) of this driver, is not used afterwards, and is destroyed
    /// once.
    unsafe fn destroy_graph(&self, graph: RawGraph) -> DriverResult<()> {
        let _ = graph;
        Ok(())
    }

    /// How functions of libraries are called.
    fn libraries(&self) -> &dyn Libraries;

    /// The first of the [observers](Observer) of this driver: its own, or that of the driver below. A driver has none by default.
    #[inline]
    fn observer(&self) -> &dyn Observer {
        &()
    }
}
