//! Notes: what the modules above the driver report to it beside their calls.

use std::panic::Location;

use super::{AccessMode, MemoryRange, RawEvent, RawStream};

/// The place in a program's source that caused a call or an access.
pub type SourceLocation = &'static Location<'static>;

/// A note to an observer that watches, as the race checker. Other observers ignore notes.
///
/// A note is about the calling thread. Notes are sent only where [`Observer::watches`] returns `true`.
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
        /// How many ticks the node has completed.
        tick: u64,
    },
    /// The hook has ended.
    Leave,
    /// The source location of the thread's next call.
    At(SourceLocation),
    /// Memory came in through a port of this hook, or goes out through one.
    Port {
        /// The memory.
        range: MemoryRange,
        /// The port's name.
        port: &'static str,
        /// In or out.
        direction: Direction,
    },
    /// The host reads or writes memory from here on, through a borrow of its owner.
    HostAccess {
        /// Which bytes.
        range: MemoryRange,
        /// Read or written.
        mode: AccessMode,
        /// Where the program borrows the memory.
        location: SourceLocation,
    },
    /// Work that touches memory is queued without a call of this driver.
    ForeignAccess {
        /// The stream of the work.
        stream: RawStream,
        /// Which bytes.
        range: MemoryRange,
        /// Read or written.
        mode: AccessMode,
        /// Where the program declares the access.
        location: SourceLocation,
    },
    /// The caller relies on what another thread may have found complete: an order passed between threads.
    Relies {
        /// The stream whose work was found complete, by any thread.
        on: RawStream,
        /// The event whose record the caller relies on: the work before that record is complete. `None`, also where the
        /// event may hold another record: all of the stream's work that was found complete.
        record: Option<RawEvent>,
        /// The stream whose later work relies on it; `None` for the calling thread.
        by: Option<RawStream>,
    },
    /// A stream gets a label.
    StreamLabel {
        /// The stream.
        stream: RawStream,
        /// Its label from now on.
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
