//! What the layers above tell a driver beside their calls.

use std::panic::Location;

use super::{AccessMode, Driver, MemoryRange, RawStream};

/// Where in a program's source something was asked for.
pub type SourceLocation = &'static Location<'static>;

/// What the layers above say about themselves, for wrappers that watch: no driver needs it.
///
/// All of it concerns the calling thread. It is said only where [`Driver::watches`] answers `true`.
///
/// [`Driver::watches`]: super::Driver::watches
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Note<'a> {
    /// A hook of an operator begins.
    Enter {
        /// The node's name.
        node: &'a str,
        /// `start`, `compute` or `stop`.
        hook: &'static str,
        /// How many ticks the node has done before.
        tick: u64,
    },
    /// The hook has ended.
    Leave,
    /// Where the next call was asked for.
    At(SourceLocation),
    /// Memory came in by a port of this hook, or goes out by one.
    Port {
        /// The memory.
        range: MemoryRange,
        /// The port's name.
        port: &'static str,
        /// Which of the two.
        direction: Direction,
    },
    /// The host reads or writes memory from here on, through a borrow of its owner.
    HostAccess {
        /// Which bytes.
        range: MemoryRange,
        /// How.
        mode: AccessMode,
        /// Where that was asked for.
        location: SourceLocation,
    },
    /// Work that touches memory is queued without a call of this driver.
    ForeignAccess {
        /// On which stream.
        stream: RawStream,
        /// Which bytes.
        range: MemoryRange,
        /// How.
        mode: AccessMode,
        /// Where that was asked for.
        location: SourceLocation,
    },
    /// Somebody goes by what some thread has found complete: the hand-off between threads.
    Relies {
        /// The stream whose work was found complete, by whichever thread.
        on: RawStream,
        /// Who goes by it: what is queued on this stream from now on, or the calling thread.
        by: Option<RawStream>,
    },
    /// What a stream is called from now on.
    StreamLabel {
        /// The stream.
        stream: RawStream,
        /// Its label, for people.
        label: &'a str,
    },
}

/// Tells a driver what this crate does.
pub(crate) fn tell(driver: &dyn Driver, note: &Note<'_>) {
    // SAFETY: only this crate can call this, and it tells of its own calls what they do.
    unsafe { driver.tell(note) };
}

/// Whether memory comes in by a port or goes out by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    /// By an input.
    Inward,
    /// By an output.
    Outward,
}
