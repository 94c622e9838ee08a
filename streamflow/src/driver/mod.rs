//! The one seam between streamflow and whatever executes its work.
//!
//! [`Driver`] is the trait; [`cuda`] implements it with a real GPU, [`host`] with a simulator of
//! CUDA's ordering rules. A [`Layer`] wraps another driver and changes only what it must: the
//! call [`Recorder`] is one, the [race checker](race) another, and so are the fault injectors of the
//! tests. Nothing above this module asks which one runs.
//!
//! The seam speaks in raw handles. It knows contexts, streams, events, memory, kernels and host
//! functions; it knows no ports, no operators and no graphs.

pub mod cuda;
mod error;
mod green;
mod handle;
pub mod host;
mod kernel;
mod layer;
mod note;
mod owned;
pub mod race;
mod recorder;
mod report;
mod signal;

pub(crate) use error::report_in_drop;
pub use error::{DriverError, Sticky};
pub use green::{Coscheduling, GreenContext, SmSizes};
pub use handle::{
    BorrowedStream, DeviceId, MemoryRange, RawEvent, RawFunction, RawModule, RawStream,
};
pub use kernel::{
    Access, AccessMode, Code, HostArgs, HostFunction, HostKernel, Image, KernelSource, Launch,
    LoadedKernel, MAX_PARAMS, Param, Plain, Target,
};
pub use layer::Layer;
pub(crate) use note::tell;
pub use note::{Direction, Note, SourceLocation};
pub(crate) use owned::{OwnedEvent, OwnedPinned, OwnedStream};
pub use recorder::{Call, RecordedAccess, RecordedRange, Recorder, StreamLabel};
use report::RaceMark;
pub(crate) use report::RaceReports;
pub(crate) use signal::Signal;

use std::fmt;

/// What a driver call returns.
pub type DriverResult<T> = Result<T, DriverError>;

/// What a device is and what it can do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceInfo {
    /// The name that the device gives itself, as `NVIDIA H200`.
    pub name: String,
    /// Compute capability, major and minor; `(0, 0)` for a simulated device.
    pub compute_capability: (u32, u32),
    /// Streaming multiprocessors.
    pub multiprocessors: u32,
    /// Bytes of device memory.
    pub total_memory: u64,
    /// The numerically lowest (most urgent) and highest (least urgent) stream priority.
    pub priorities: (i32, i32),
}

/// How a stream behaves against the legacy default stream of its device.
///
/// See *Stream synchronization behavior* in the CUDA driver API reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum StreamFlags {
    /// No implicit ordering against the default stream. streamflow's choice where it has one:
    /// it makes every dependency explicit, so an implicit barrier can only cost time.
    #[default]
    NonBlocking,
    /// Work on the default stream waits for this stream's and the other way round.
    Blocking,
}

/// Between which memories a copy is, and how it treats a host side.
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

/// One copy, from `source` to `target`, both `bytes` long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CopyOp {
    /// Which sides are on the host.
    pub kind: CopyKind,
    /// Where the copy writes: a device address, or a host address as an integer.
    pub target: MemoryRange,
    /// Where the copy reads.
    pub source: MemoryRange,
}

/// What a stream is created with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StreamOptions {
    /// Behaviour against the default stream.
    pub flags: StreamFlags,
    /// CUDA's priority: lower is more urgent, 0 the default. Must lie in [`DeviceInfo::priorities`].
    pub priority: i32,
    /// The green context whose multiprocessors its kernels use; `None` for all of the device's. Such a
    /// stream is non-blocking.
    pub green: Option<GreenContext>,
}

/// What executes streams, events, copies and kernels. See the [module](self).
///
/// Calls may come from any thread. Handles are plain numbers and valid until their destroying call; a
/// driver may answer a stale one with an error or, on a real GPU, with undefined behaviour, which is
/// why whatever takes an address or a handle is an `unsafe fn`. A handle is *live* when it came from
/// this driver and was not destroyed.
///
/// # Safety
/// What a driver answers is believed: memory is read and written on its word.
/// - Memory that it allocates is real, of the size that was asked for, aligned to 256 bytes, and
///   nobody else's until it is freed. Page-locked memory can be accessed by the host.
/// - A stream executes its work in order, and after what [`wait_event`](Driver::wait_event) made it
///   wait for.
/// - Calls of several threads for one stream take effect one after the other, as under a lock: the thread of a later one sees
///   what the thread of an earlier one had written before its call.
/// - Work that a query or a synchronisation says is complete has executed, and the host sees what it
///   wrote.
/// - A copy that [blocks the host](CopyKind::blocks_host) touches the host's memory no more once it
///   has returned, also with an error.
/// - A loaded kernel is the one of its source, and stays loaded while the driver lives.
pub unsafe trait Driver: Send + Sync + fmt::Debug {
    /// `"cuda"`, `"host"`, or the name of what a wrapper wraps.
    fn name(&self) -> &str;

    /// How many devices there are; they are named `0..device_count()`.
    fn device_count(&self) -> usize;

    /// What device `device` is.
    fn device_info(&self, device: DeviceId) -> DriverResult<DeviceInfo>;

    /// Makes the device's context current on the calling thread. Cheap when it is already.
    fn bind(&self, device: DeviceId) -> DriverResult<()>;

    /// The error after which the device executes nothing any more, if there was one.
    fn sticky_error(&self) -> Option<Sticky>;

    /// The legacy default stream of a device.
    fn default_stream(&self, device: DeviceId) -> RawStream;

    /// Creates a stream.
    fn create_stream(&self, device: DeviceId, options: StreamOptions) -> DriverResult<RawStream>;

    /// Into which sizes a device's multiprocessors can be divided.
    fn sm_sizes(&self, device: DeviceId, coscheduling: Coscheduling) -> DriverResult<SmSizes>;

    /// Divides a device's multiprocessors: a green context of each size, which are legal and together no
    /// more than there are, in order, and one of what is left over, if something is. Another call
    /// divides the same multiprocessors once more.
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

    /// Creates an event whose records have a time. Recording it costs several times as much.
    fn create_timing_event(&self, device: DeviceId) -> DriverResult<RawEvent>;

    /// The time between the latest records of two events with timing, in milliseconds: negative when
    /// `end` was reached first. On a GPU the device's clock, with a resolution of about half a
    /// microsecond. On the simulator a simulated one; see [`host`].
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

    /// Records `event` on `stream`: it completes when everything queued there before has. If that fails, the event
    /// keeps the record that it had.
    ///
    /// # Safety
    /// Both are live.
    unsafe fn record_event(&self, event: RawEvent, stream: RawStream) -> DriverResult<()>;

    /// Makes later work on `stream` wait for the latest record of `event`; an event that was never
    /// recorded is complete.
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

    /// Allocates device memory in stream order: it may be used by work queued on `stream` after
    /// this call. The content is not initialised.
    ///
    /// # Safety
    /// `stream` is live.
    unsafe fn allocate(&self, stream: RawStream, bytes: u64) -> DriverResult<MemoryRange>;

    /// Frees device memory in stream order.
    ///
    /// # Safety
    /// `stream` is live, and `range` came from [`allocate`](Driver::allocate) of this driver and is
    /// freed once. Every use of it is complete, or ordered before this point of `stream`.
    unsafe fn free(&self, stream: RawStream, range: MemoryRange) -> DriverResult<()>;

    /// Says that `range` passes to a new owner on `stream` without a call to `free` and `allocate`.
    ///
    /// A real driver ignores it. The simulator overwrites the range with poison in stream order, and
    /// a wrapper that looks for races takes it for a write.
    ///
    /// # Safety
    /// `stream` is live, `range` is allocated, and nobody reads its content from before this call any more.
    unsafe fn recycle(&self, stream: RawStream, range: MemoryRange) -> DriverResult<()>;

    /// Gives memory that is free, beyond `keep` bytes, back to the system.
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
    /// `stream` is live. Both ranges are allocated and of one length, and stay so until the copy has executed. Host
    /// memory is neither read nor written by others meanwhile in a way that conflicts.
    unsafe fn copy(&self, stream: RawStream, copy: &CopyOp) -> DriverResult<()>;

    /// Queues a fill of `range` with a byte.
    ///
    /// # Safety
    /// `stream` is live, and `range` is device memory that is allocated until the fill has executed.
    unsafe fn fill(&self, stream: RawStream, range: MemoryRange, byte: u8) -> DriverResult<()>;

    /// Loads compiled code on a device. It stays there while the driver lives. `name` is for
    /// messages.
    ///
    /// # Safety
    /// `image` is text, which a CUDA driver compiles as PTX and refuses where it is none, or a complete
    /// CUBIN or fatbin: the driver reads as many bytes as these say that they have.
    unsafe fn load_module(
        &self,
        device: DeviceId,
        name: &str,
        image: &Image,
    ) -> DriverResult<RawModule>;

    /// Makes a kernel ready to launch on a device.
    ///
    /// # Safety
    /// An image of the source is as [`load_module`](Driver::load_module) asks; a module is one of this
    /// driver and device.
    unsafe fn load_kernel(
        &self,
        device: DeviceId,
        source: &KernelSource<'_>,
    ) -> DriverResult<LoadedKernel>;

    /// Queues a kernel. Parameters are copied before the call returns.
    ///
    /// # Safety
    /// `stream` and the function are live. The parameters are what the kernel was compiled for, and the
    /// memory that it touches is
    /// allocated until it has executed.
    unsafe fn launch(&self, stream: RawStream, launch: &Launch<'_>) -> DriverResult<()>;

    /// Queues a call on the host. Later work of the stream waits until it has returned.
    ///
    /// # Safety
    /// `stream` is live. `function.data` is valid for `function.call` until the call was made. The callee makes no
    /// CUDA calls and does not unwind (CUDA driver API, `cuLaunchHostFunc`). After a sticky error it
    /// may never be called.
    unsafe fn launch_host_function(
        &self,
        stream: RawStream,
        function: HostFunction,
    ) -> DriverResult<()>;

    /// Whether [`tell`](Driver::tell) does something. Asked once, when a platform is made: where nobody
    /// watches, nothing is told.
    fn watches(&self) -> bool {
        false
    }

    /// Says what the calls alone don't: which operator makes them, and what the host touches itself.
    ///
    /// # Safety
    /// The note is true. A [race checker](race) believes it, and a program whose checker reports nothing may rely on that.
    ///
    /// So no safe code can silence a checker, as by saying that all of a stream was found complete:
    /// ```compile_fail,E0133
    /// # use streamflow::driver::{Note, RawStream};
    /// # use streamflow::Platform;
    /// fn silence(platform: &Platform, stream: RawStream) {
    ///     platform.driver().tell(&Note::Relies { on: stream, by: None });
    /// }
    /// ```
    unsafe fn tell(&self, note: &Note<'_>) {
        let _ = note;
    }

    /// The races that were found since a mark was made, which is moved to now; none without a race checker. Marks
    /// are independent: a question with one takes nothing away from another.
    fn races_since(&self, mark: &mut RaceMark) -> RaceReports {
        let _ = mark;
        RaceReports::default()
    }

    /// The races that were found since this was called last, by anybody; none where nobody watches. It moves no
    /// mark: [`races_since`](Self::races_since) tells of them all the same.
    fn take_races(&self) -> RaceReports {
        RaceReports::default()
    }
}
