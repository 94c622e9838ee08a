//! A recorded call, and its line in a log.

use std::fmt;
use std::sync::Arc;

use super::names::{RecordedRange, StreamLabel};
use crate::driver::{AccessMode, CopyKind, CopyRows, DeviceId, StreamFlags, StreamOptions};

/// Memory that a recorded launch touches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedAccess {
    /// The kernel argument's name.
    pub argument: &'static str,
    /// Whether the memory is read or written.
    pub mode: AccessMode,
    /// The bytes.
    pub place: RecordedRange,
}

/// A call of a driver in the [`Recorder`](super::Recorder)'s log.
///
/// Streams, events and memory are numbered in order of their first appearance, so that two runs with the same
/// calls give equal logs. A call is displayed as one line.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
#[allow(missing_docs, reason = "each field is an argument, or the result, of the method")]
pub enum Call {
    /// [`bind`](crate::driver::Driver::bind).
    Bind { device: DeviceId },
    /// [`create_stream`](crate::driver::Driver::create_stream).
    CreateStream { stream: StreamLabel, device: DeviceId, options: StreamOptions },
    /// [`create_green_contexts`](crate::driver::Driver::create_green_contexts).
    CreateGreenContexts { device: DeviceId, sizes: Box<[u32]> },
    /// [`destroy_stream`](crate::driver::Driver::destroy_stream).
    DestroyStream { stream: StreamLabel },
    /// [`query_stream`](crate::driver::Driver::query_stream), with its answer.
    QueryStream { stream: StreamLabel, complete: bool },
    /// [`synchronize_stream`](crate::driver::Driver::synchronize_stream).
    SynchronizeStream { stream: StreamLabel },
    /// [`create_event`](crate::driver::Driver::create_event), or
    /// [`create_timing_event`](crate::driver::Driver::create_timing_event).
    CreateEvent { event: u32, device: DeviceId },
    /// [`destroy_event`](crate::driver::Driver::destroy_event).
    DestroyEvent { event: u32 },
    /// [`record_event`](crate::driver::Driver::record_event).
    RecordEvent { event: u32, stream: StreamLabel },
    /// [`wait_event`](crate::driver::Driver::wait_event).
    WaitEvent { stream: StreamLabel, event: u32 },
    /// [`query_event`](crate::driver::Driver::query_event), with its answer.
    QueryEvent { event: u32, complete: bool },
    /// [`synchronize_event`](crate::driver::Driver::synchronize_event).
    SynchronizeEvent { event: u32 },
    /// [`allocate`](crate::driver::Driver::allocate).
    Allocate { stream: StreamLabel, place: RecordedRange },
    /// [`free`](crate::driver::Driver::free).
    Free { stream: StreamLabel, place: RecordedRange },
    /// [`recycle`](crate::driver::Observer::recycle).
    Recycle { stream: StreamLabel, place: RecordedRange },
    /// [`adopt`](crate::driver::Observer::adopt).
    Adopt { device: DeviceId, bytes: u64 },
    /// [`disown`](crate::driver::Observer::disown).
    Disown { stream: StreamLabel, bytes: u64 },
    /// [`wait_for_device`](crate::driver::Driver::wait_for_device).
    WaitForDevice { stream: StreamLabel },
    /// [`trim`](crate::driver::Driver::trim).
    Trim { device: DeviceId, keep: u64 },
    /// [`allocate_pinned`](crate::driver::Driver::allocate_pinned).
    AllocatePinned { device: DeviceId, place: RecordedRange },
    /// [`free_pinned`](crate::driver::Driver::free_pinned).
    FreePinned { device: DeviceId, place: RecordedRange },
    /// [`copy`](crate::driver::Driver::copy).
    Copy {
        stream: StreamLabel,
        kind: CopyKind,
        target: RecordedRange,
        source: RecordedRange,
        rows: Option<CopyRows>,
    },
    /// [`fill`](crate::driver::Driver::fill).
    Fill { stream: StreamLabel, place: RecordedRange, byte: u8 },
    /// [`load_module`](crate::driver::Driver::load_module).
    LoadModule { device: DeviceId, module: Arc<str> },
    /// [`load_kernel`](crate::driver::Driver::load_kernel).
    LoadKernel { device: DeviceId, kernel: Arc<str> },
    /// [`launch`](crate::driver::Driver::launch).
    Launch {
        stream: StreamLabel,
        kernel: Arc<str>,
        grid: [u32; 3],
        block: [u32; 3],
        shared_bytes: u32,
        accesses: Box<[RecordedAccess]>,
    },
    /// [`call_library`](crate::driver::Libraries::call_library). `is_captured` is the field of the same name of
    /// [`LibraryCall`](crate::driver::LibraryCall).
    Library {
        stream: StreamLabel,
        function: Arc<str>,
        accesses: Box<[RecordedAccess]>,
        is_captured: bool,
    },
    /// [`create_graph`](crate::driver::Driver::create_graph).
    CreateGraph { device: DeviceId, nodes: usize },
    /// [`launch_graph`](crate::driver::Driver::launch_graph).
    LaunchGraph { stream: StreamLabel },
    /// [`set_graph_kernel`](crate::driver::Driver::set_graph_kernel).
    SetGraphKernel { device: DeviceId, node: u32, kernel: Arc<str> },
    /// [`destroy_graph`](crate::driver::Driver::destroy_graph).
    DestroyGraph { device: DeviceId },
    /// [`launch_host_function`](crate::driver::Driver::launch_host_function).
    HostFunction { stream: StreamLabel },
    /// The call of this name failed with this error. A failed call that creates or allocates has only this entry; any
    /// other failed call also has its usual entry, before this one.
    Failed { call: &'static str, error: Arc<str> },
}

impl Call {
    /// The stream of the call, if it has one.
    pub fn stream(&self) -> Option<StreamLabel> {
        match self {
            Self::CreateStream { stream, .. }
            | Self::DestroyStream { stream }
            | Self::QueryStream { stream, .. }
            | Self::SynchronizeStream { stream }
            | Self::RecordEvent { stream, .. }
            | Self::WaitEvent { stream, .. }
            | Self::Allocate { stream, .. }
            | Self::Free { stream, .. }
            | Self::Recycle { stream, .. }
            | Self::Disown { stream, .. }
            | Self::WaitForDevice { stream }
            | Self::Copy { stream, .. }
            | Self::Fill { stream, .. }
            | Self::Launch { stream, .. }
            | Self::Library { stream, .. }
            | Self::LaunchGraph { stream }
            | Self::HostFunction { stream } => Some(*stream),
            Self::Bind { .. }
            | Self::CreateGreenContexts { .. }
            | Self::CreateEvent { .. }
            | Self::DestroyEvent { .. }
            | Self::QueryEvent { .. }
            | Self::SynchronizeEvent { .. }
            | Self::Adopt { .. }
            | Self::Trim { .. }
            | Self::AllocatePinned { .. }
            | Self::FreePinned { .. }
            | Self::LoadModule { .. }
            | Self::LoadKernel { .. }
            | Self::CreateGraph { .. }
            | Self::SetGraphKernel { .. }
            | Self::DestroyGraph { .. }
            | Self::Failed { .. } => None,
        }
    }

    /// Whether the call makes or destroys an object of the driver, or allocates or frees memory: calls that a
    /// pipeline in its steady state does not make.
    pub fn changes_resources(&self) -> bool {
        matches!(
            self,
            Self::CreateStream { .. }
                | Self::CreateGreenContexts { .. }
                | Self::DestroyStream { .. }
                | Self::CreateEvent { .. }
                | Self::DestroyEvent { .. }
                | Self::Allocate { .. }
                | Self::Free { .. }
                | Self::Trim { .. }
                | Self::AllocatePinned { .. }
                | Self::FreePinned { .. }
                | Self::LoadModule { .. }
                | Self::LoadKernel { .. }
        )
    }

    /// Whether the call blocks the calling thread until the device has executed some work.
    pub fn blocks_host(&self) -> bool {
        match self {
            Self::SynchronizeStream { .. } | Self::SynchronizeEvent { .. } => true,
            Self::Copy { kind, .. } => kind.blocks_host(),
            _ => false,
        }
    }
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bind { device } => write!(f, "bind {device}"),
            Self::CreateStream { stream, device, options } => {
                let StreamOptions { flags, priority, green } = options;
                let flags = match flags {
                    StreamFlags::NonBlocking => "non-blocking",
                    StreamFlags::Blocking => "blocking",
                };
                write!(f, "create {stream} on {device}, {flags}, priority {priority}")?;
                match green {
                    Some(green) => write!(f, ", {} multiprocessors", green.multiprocessors()),
                    None => Ok(()),
                }
            }
            Self::CreateGreenContexts { device, sizes } => {
                write!(f, "divide {device} into {sizes:?} multiprocessors")
            }
            Self::DestroyStream { stream } => write!(f, "destroy {stream}"),
            Self::QueryStream { stream, complete } => {
                write!(f, "query {stream}: {}", answer(*complete))
            }
            Self::SynchronizeStream { stream } => write!(f, "synchronize {stream}"),
            Self::CreateEvent { event, device } => write!(f, "create event {event} on {device}"),
            Self::DestroyEvent { event } => write!(f, "destroy event {event}"),
            Self::RecordEvent { event, stream } => write!(f, "record event {event} on {stream}"),
            Self::WaitEvent { stream, event } => write!(f, "wait on {stream} for event {event}"),
            Self::QueryEvent { event, complete } => {
                write!(f, "query event {event}: {}", answer(*complete))
            }
            Self::SynchronizeEvent { event } => write!(f, "synchronize event {event}"),
            Self::Allocate { stream, place } => write!(f, "allocate {place} on {stream}"),
            Self::Free { stream, place } => write!(f, "free {place} on {stream}"),
            Self::Recycle { stream, place } => write!(f, "recycle {place} on {stream}"),
            Self::Adopt { device, bytes } => write!(f, "adopt {bytes} bytes on {device}"),
            Self::Disown { stream, bytes } => write!(f, "disown {bytes} bytes on {stream}"),
            Self::WaitForDevice { stream } => write!(f, "wait on {stream} for its device"),
            Self::Trim { device, keep } => write!(f, "trim {device} to {keep} bytes"),
            Self::AllocatePinned { device, place } => write!(f, "allocate {place} for {device}"),
            Self::FreePinned { device, place } => write!(f, "free {place} for {device}"),
            Self::Copy { stream, kind, target, source, rows } => {
                let blocking = if kind.blocks_host() { ", blocking" } else { "" };
                write!(f, "copy ")?;
                if let Some(CopyRows { bytes, count, .. }) = rows {
                    write!(f, "{count} rows of {bytes} bytes of ")?;
                }
                write!(f, "{source} to {target} on {stream}{blocking}")
            }
            Self::Fill { stream, place, byte } => {
                write!(f, "fill {place} with {byte:#04x} on {stream}")
            }
            Self::LoadModule { device, module } => write!(f, "load {module} on {device}"),
            Self::LoadKernel { device, kernel } => write!(f, "load kernel {kernel} on {device}"),
            Self::Launch { stream, kernel, grid, block, shared_bytes, accesses } => {
                let ([gx, gy, gz], [bx, by, bz]) = (grid, block);
                write!(f, "launch {kernel} on {stream}")?;
                write!(f, ", {gx}x{gy}x{gz} blocks of {bx}x{by}x{bz}, {shared_bytes} shared")?;
                list(f, accesses)
            }
            Self::Library { stream, function, accesses, is_captured } => {
                write!(f, "call {function} on {stream}")?;
                if !is_captured {
                    f.write_str(", not to be captured")?;
                }
                list(f, accesses)
            }
            Self::CreateGraph { device, nodes } => {
                write!(f, "create a graph of {nodes} nodes on {device}")
            }
            Self::LaunchGraph { stream } => write!(f, "launch a graph on {stream}"),
            Self::SetGraphKernel { device, node, kernel } => {
                write!(f, "set the parameters of {kernel}, node {node} of a graph of {device}")
            }
            Self::DestroyGraph { device } => write!(f, "destroy a graph of {device}"),
            Self::HostFunction { stream } => write!(f, "host function on {stream}"),
            Self::Failed { call, error } => write!(f, "{call} failed: {error}"),
        }
    }
}

fn list(f: &mut fmt::Formatter<'_>, accesses: &[RecordedAccess]) -> fmt::Result {
    for RecordedAccess { argument, mode, place } in accesses {
        let mode = match mode {
            AccessMode::Read => "reads",
            AccessMode::Write => "writes",
        };
        write!(f, ", {mode} {argument} = {place}")?;
    }
    Ok(())
}

fn answer(complete: bool) -> &'static str {
    if complete { "complete" } else { "not yet" }
}
