//! Notes: facts that the modules above the driver report to its observers, in addition to their calls of the driver.

use std::panic::Location;

use super::{AccessMode, MemoryRange, RawEvent, RawStream, Rows};

/// The location in a program's source that caused a call or an access.
pub type SourceLocation = &'static Location<'static>;

/// A note to an observer that watches, such as the race checker. Other observers ignore notes.
///
/// A note is about the calling thread, and is sent only where [`Observer::watches`] returns `true`.
///
/// [`Observer::watches`]: super::Observer::watches
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Note<'a> {
    /// A hook of an operator begins.
    Enter {
        /// The node's name.
        node: &'a str,
        /// `start`, `compute` or `stop`.
        hook: &'static str,
        /// The number of ticks that the node has completed.
        tick: u64,
    },
    /// The hook of the operator that began last on this thread has ended.
    Leave,
    /// The source location of the thread's next call.
    At(SourceLocation),
    /// Memory came in or goes out through a port of the node whose hook runs.
    Port {
        /// The memory.
        range: MemoryRange,
        /// The port's name.
        port: &'static str,
        /// Whether the memory came in or goes out.
        direction: Direction,
    },
    /// The host reads or writes memory from now on, through a borrow of the memory's owner.
    HostAccess {
        /// The bytes.
        range: MemoryRange,
        /// Whether the bytes are read or written.
        mode: AccessMode,
        /// The source location where the program borrows the memory.
        location: SourceLocation,
    },
    /// Work that touches memory is queued without a call of this driver.
    ForeignAccess {
        /// The stream of the work.
        stream: RawStream,
        /// The bytes.
        range: MemoryRange,
        /// The rows of the range that are touched; `None` if all bytes may be.
        rows: Option<Rows>,
        /// Whether the bytes are read or written.
        mode: AccessMode,
        /// The source location where the program declares the access.
        location: SourceLocation,
    },
    /// The caller relies on work whose completion another thread may have found: the knowledge is passed from thread to thread.
    Relies {
        /// The stream with the work that any thread has found complete.
        on: RawStream,
        /// The event with the record that the caller relies on: the work before that record is complete. `None` means
        /// all work of the stream that was found complete; `None` is also passed where the event may already hold
        /// another record.
        record: Option<RawEvent>,
        /// The stream with the later work that relies on the completion; `None` for the calling thread.
        by: Option<RawStream>,
    },
    /// A stream gets a label.
    StreamLabel {
        /// The stream.
        stream: RawStream,
        /// The stream's label from now on.
        label: &'a str,
    },
}

/// Whether memory comes in through a port or goes out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    /// Through an input.
    Inward,
    /// Through an output.
    Outward,
}
