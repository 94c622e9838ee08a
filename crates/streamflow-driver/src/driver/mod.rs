//! The one interface (the *seam*) between streamflow and the driver that executes its work.
//!
//! The methods of the trait [`Driver`] are CUDA's calls; [`cuda`] implements it with a real GPU, [`host`] with a simulator of
//! CUDA's ordering rules. A [`Layer`] wraps another driver and overrides only the calls that differ: the [race checker](race),
//! the driver that [replays](replay) passes, the call recorder, and the fault injectors of the tests are layers. No code above
//! this module depends on which driver runs.
//!
//! Two more traits belong to a driver; the driver returns its own implementations or those of the driver below. An
//! [`Observer`] gets facts that no call shows, for example that memory passes to a new owner, and reports its findings.
//! [`Libraries`] calls functions of NVIDIA's libraries.
//!
//! The interface has raw handles: contexts, streams, events, memory, kernels and host functions. Ports, operators and graphs are
//! above it.

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
/// The simulator of a GPU, [`HostDriver`](host::HostDriver), and the orders in which the simulator executes work.
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
    /// The device's own name, for example `NVIDIA H200`.
    pub name: String,
    /// CUDA's own number of the device, which other code of the process uses, too. `None` for a simulated device; the
    /// memory of such a device is ordinary host memory.
    pub ordinal: Option<u32>,
    /// Compute capability, major and minor. The [builder](host::HostBuilder::compute_capability) of a simulated device sets it.
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
    /// Whether [`Driver::wait_for_device`] can make a stream wait for all work of the device, including work of other
    /// code. CUDA's driver can do so from CUDA 12.5 on. The runtime makes such a wait before it takes lent memory back
    /// from other code.
    pub waits_for_device: bool,
}

/// The order of a stream against the legacy default stream of its device.
///
/// See *Stream synchronization behavior* in the CUDA driver API reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum StreamFlags {
    /// No implicit ordering against the default stream. streamflow makes its own streams non-blocking: all dependencies are
    /// explicit, so an implicit barrier can only cost time.
    #[default]
    NonBlocking,
    /// Work on the default stream waits for earlier work of this stream, and work of this stream for earlier work of
    /// the default stream.
    Blocking,
}

/// Source and target memory of a copy, and whether the call waits for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CopyKind {
    /// A copy from page-locked host memory to a device, asynchronous.
    PinnedToDevice,
    /// A copy from ordinary host memory to a device. The call returns when the host memory may be changed.
    PageableToDevice,
    /// A copy from a device to page-locked host memory, asynchronous.
    DeviceToPinned,
    /// A copy from a device to ordinary host memory. The call returns when the copy is complete.
    DeviceToPageable,
    /// A copy within one device, asynchronous.
    DeviceToDevice,
    /// A copy from one device to another, asynchronous, on a stream of either device.
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

/// A copy from `source` to `target`: either of all bytes between ranges of the same length, or of [rows](CopyRows).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CopyOp {
    /// The kinds of memory of the source and the target, and whether the call blocks the host.
    pub kind: CopyKind,
    /// The memory that the copy writes: a device address, or a host address as an integer. In a copy of rows, this
    /// range ends with the last row.
    pub target: MemoryRange,
    /// The memory that the copy reads. In a copy of rows, this range ends with the last row.
    pub source: MemoryRange,
    /// The rows of a copy with gaps between them; `None` without gaps, and always for a copy between two devices.
    pub rows: Option<CopyRows>,
}

/// The options of a new stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StreamOptions {
    /// The stream's order against the default stream.
    pub flags: StreamFlags,
    /// CUDA's priority: lower is more urgent, 0 the default. Must be within [`DeviceInfo::priorities`].
    pub priority: i32,
    /// The green context with the multiprocessors that the stream's kernels use; `None` for all of the device's. A stream in a
    /// green context is non-blocking.
    pub green: Option<GreenContext>,
}

/// Executes streams, events, copies and kernels. See the [module](self).
///
/// Calls may come from any thread. Handles are plain numbers, valid until they are destroyed. Using a stale handle gives an error
/// or, on a real GPU, undefined behaviour, so each method that takes an address or a handle is an `unsafe fn`. A handle is *live*
/// when it came from this driver and was not destroyed.
///
/// # Bodies
/// A simulator executes the bodies of kernels and of library functions, and host functions, in the calls that queue
/// work, query, wait or free page-locked memory, and in [`catch_up`](Observer::catch_up). Callers make these calls
/// while they hold no lock of this library, or they suspend bodies during the calls and call `catch_up` after they have
/// released the lock. All other calls execute no body, also in a layer: the calls that describe, bind, create, destroy,
/// load and hand out, [`record_event`](Self::record_event) and [`wait_event`](Self::wait_event). Callers may make those
/// calls under locks.
///
/// # Safety
/// Callers rely on a driver's answers to read and write memory.
/// - Memory that the driver allocates is real, of the requested size, aligned to 256 bytes, and has no other owner until it is
///   freed. Page-locked memory can be accessed by the host.
/// - A stream executes its work in order, and after the records that
///   [`wait_event`](Driver::wait_event) made it wait for.
/// - Calls of several threads for one stream or one event take effect one after the other, as under a lock: the thread of a later
///   call sees everything that the thread of an earlier call had written before that call. If a thread records or synchronises a
///   stream while another thread queues work there, this holds only for writes before a sequentially consistent fence before the
///   call: a driver that [replays](replay) takes some calls without a lock.
/// - Work that a query or a synchronisation reports as complete has executed, and the host sees its writes.
/// - A copy that [blocks the host](CopyKind::blocks_host) no longer touches host memory once the call has
///   returned, also with an error.
/// - A loaded kernel is the kernel of its source, and stays loaded while the driver lives.
/// - A stream, an event or a graph that the driver makes belongs to the named device, and no other live object of its kind has
///   the same handle. No call makes a default stream.
/// - Work that a call accepts is done once and whole, on the call's stream: a copy of all bytes, a fill, a launch, a call of a
///   host function, a launch of a graph with its latest parameters, a free. If a host function is never called, its work never
///   completes, and a program that waits for that work waits forever.
/// - The number of devices, and their properties, stay the same while the driver lives.
/// - Each fact that the [observer](Self::observer) is told reaches the observer of the driver below, unchanged.
///
/// Some broken promises show in the answer itself, and become a [`DriverError::Contract`]: memory of another size or place, an
/// object of another device, a kernel with blocks of no threads, an invalid time, too few green contexts, and for a simulated
/// device an observer that is not the simulator's. Nothing checks the other promises on a GPU: they are the driver's
/// responsibility.
pub unsafe trait Driver: Send + Sync + fmt::Debug {
    /// Returns `"cuda"`, `"host"`, or for a layer the name of the driver below.
    fn name(&self) -> &str;

    /// The number of devices. Their indices are `0..device_count()`.
    fn device_count(&self) -> usize;

    /// The properties of a device.
    fn device_info(&self, device: DeviceId) -> DriverResult<DeviceInfo>;

    /// Makes the device's context current on the calling thread. Cheap if that context is already current.
    ///
    /// A call with the wrong context current fails, or on a GPU may work on the wrong device. Calls that make a stream or an
    /// event need the device's context, and so do calls on a default stream: its handle means the current device. All other calls
    /// that queue, query, wait, free or destroy need any context of this driver; calls that load code, and calls about
    /// multiprocessors, bind the device themselves.
    fn bind(&self, device: DeviceId) -> DriverResult<()>;

    /// The error after which the device executes nothing any more, if it had such an error.
    fn sticky_error(&self) -> Option<Sticky>;

    /// The legacy default stream of a device.
    fn default_stream(&self, device: DeviceId) -> RawStream;

    /// The device of a stream that other code made, from its handle.
    ///
    /// The call fails for a stream of a context that is neither the primary context nor a green context of a device of this
    /// driver. For a handle of no live stream the call fails where the driver finds that out; CUDA does not promise to.
    ///
    /// # Safety
    /// The handle belongs to a stream that was not destroyed, and is not 0, 1 or 2: these numbers name default streams.
    unsafe fn device_of_stream(&self, handle: u64) -> DriverResult<DeviceId>;

    /// Creates a stream.
    fn create_stream(&self, device: DeviceId, options: StreamOptions) -> DriverResult<RawStream>;

    /// The sizes into which a device's multiprocessors can be divided.
    fn sm_sizes(&self, device: DeviceId, coscheduling: Coscheduling) -> DriverResult<SmSizes>;

    /// Divides a device's multiprocessors: returns a green context of each size, in order, and another of the remaining
    /// multiprocessors, if any. The sizes are legal, and their sum is at most the device's total. Another call divides the same
    /// multiprocessors again.
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

    /// Creates an event that notes the time of its records. A record of such an event costs several times as much.
    fn create_timing_event(&self, device: DeviceId) -> DriverResult<RawEvent>;

    /// The time between the latest records of two events with timing, in milliseconds: negative when `end` was reached first. On
    /// a GPU the device's clock measures the time, with a resolution of about half a microsecond; on the simulator, a simulated
    /// clock does: see [`host`].
    ///
    /// # Safety
    /// `start` and `end` are live, of one device, made by [`create_timing_event`](Driver::create_timing_event), and
    /// their records are complete.
    unsafe fn elapsed(&self, start: RawEvent, end: RawEvent) -> DriverResult<f64>;

    /// Destroys an event.
    ///
    /// # Safety
    /// `event` came from this driver, is not used afterwards and not destroyed twice.
    unsafe fn destroy_event(&self, event: RawEvent) -> DriverResult<()>;

    /// Records `event` on `stream`: the record is complete when all work queued there before is complete. If the
    /// call fails, the event keeps its previous record.
    ///
    /// # Safety
    /// `event` and `stream` are live.
    unsafe fn record_event(&self, event: RawEvent, stream: RawStream) -> DriverResult<()>;

    /// Makes later work on `stream` wait for the latest record of `event`. An event that was never
    /// recorded counts as complete.
    ///
    /// # Safety
    /// `stream` and `event` are live.
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

    /// Allocates device memory in stream order: work queued on `stream` after this call may use it. The content is not
    /// initialised. `source` says which memory the allocation may take. If the device is out of memory, a driver may wait on the
    /// host until the free of other memory has executed.
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

    /// Makes later work on `stream` wait for all work of its device that was queued so far, on any stream of the process, also by
    /// other code. The device must be bound.
    ///
    /// # Safety
    /// `stream` is live.
    unsafe fn wait_for_device(&self, stream: RawStream) -> DriverResult<()>;

    /// Returns free memory beyond `keep` bytes to the operating system.
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
    /// `stream` is live. The two ranges are allocated and of one length, or as long as the rows need, and stay so until
    /// the copy has executed. Until then no other code accesses the host memory in a way that conflicts.
    unsafe fn copy(&self, stream: RawStream, copy: &CopyOp) -> DriverResult<()>;

    /// Queues a fill of `range` with a byte.
    ///
    /// # Safety
    /// `stream` is live, and `range` is device memory that is allocated until the fill has executed.
    unsafe fn fill(&self, stream: RawStream, range: MemoryRange, byte: u8) -> DriverResult<()>;

    /// Loads compiled code on a device. The code stays loaded while the driver lives. `name` is for messages.
    ///
    /// # Safety
    /// `image` is text or a complete CUBIN or fatbin. A CUDA driver compiles text as PTX, and refuses text that is not PTX. Of a
    /// CUBIN or fatbin it reads as many bytes as their header says.
    unsafe fn load_module(
        &self,
        device: DeviceId,
        name: &str,
        image: &Image,
    ) -> DriverResult<RawModule>;

    /// Makes a kernel ready to launch on a device.
    ///
    /// # Safety
    /// An image of the source, embedded or made, is as [`load_module`](Driver::load_module) requires; a module belongs to this
    /// driver and device.
    unsafe fn load_kernel(
        &self,
        device: DeviceId,
        source: &KernelSource<'_>,
    ) -> DriverResult<LoadedKernel>;

    /// Queues a kernel. Parameters are copied before the call returns.
    ///
    /// # Safety
    /// `stream` and the function are live. The parameters are those that the kernel was compiled for, and the memory that the
    /// kernel touches is allocated until it has executed.
    unsafe fn launch(&self, stream: RawStream, launch: &Launch<'_>) -> DriverResult<()>;

    /// Queues a call on the host. Later work of the stream waits until the call has returned.
    ///
    /// # Safety
    /// `stream` is live. `function.data` is valid for `function.call` until that call has been made. The callee makes no CUDA
    /// calls and does not unwind (CUDA driver API, `cuLaunchHostFunc`). After a sticky error the driver may never call it.
    unsafe fn launch_host_function(
        &self,
        stream: RawStream,
        function: HostFunction,
    ) -> DriverResult<()>;

    /// Makes an executable graph of work. Each node executes after the nodes that its
    /// [`after`](graph::GraphNode::after) names, and these have lower indices. The device must be bound.
    ///
    /// A driver that does not support graphs returns an error, and then no pass is replayed.
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

    /// Queues all work of a graph, after all earlier work of `stream` and before all later work of `stream`. Work of two launches
    /// of a graph never runs at the same time.
    ///
    /// # Safety
    /// `graph` and `stream` are live and of one device. For each node the contract of the corresponding call holds. The node's
    /// memory was not freed since the graph was made, not even if memory at the same address is allocated now.
    unsafe fn launch_graph(&self, graph: RawGraph, stream: RawStream) -> DriverResult<()> {
        let _ = (graph, stream);
        Ok(())
    }

    /// Gives a kernel launch in a graph other parameters. `node` is the index of the launch in the list that the graph
    /// was made of. Later launches of the graph use the new parameters; earlier launches keep the parameters that they
    /// had (CUDA driver API, `cuGraphExecKernelNodeSetParams`). After an error the node has either the old or the new
    /// parameters.
    ///
    /// A driver that can't change parameters returns an error. Calls with changed parameters are then sent to the
    /// device one by one.
    ///
    /// # Safety
    /// `graph` is live, and not in use by another thread. The node is a launch that differs from `launch` only in the parameters:
    /// it has the same function, grid, block, shared memory and accesses, and as many parameters.
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

    /// The trait object that calls functions of libraries.
    fn libraries(&self) -> &dyn Libraries;

    /// The first of the [observers](Observer) of this driver: the driver's own, or the first observer of the driver
    /// below. By default a driver has no observer.
    #[inline]
    fn observer(&self) -> &dyn Observer {
        &()
    }
}
