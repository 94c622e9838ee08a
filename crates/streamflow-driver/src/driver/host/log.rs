//! The log of executed operations, in order, without addresses.

use std::fmt;
use std::sync::Arc;

use crate::driver::{CopyKind, DeviceId};

/// An entry for one executed operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogEntry {
    /// The device of the stream.
    pub device: DeviceId,
    /// The stream's number: the default stream of device `n` is `n`, and the other streams follow in order of
    /// creation.
    pub stream: u32,
    /// The operation.
    pub action: LogAction,
}

/// An executed operation. Fields `bytes` are counts; events are numbered from 0 in order of creation, and
/// their records from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum LogAction {
    /// A kernel's host body ran.
    Kernel(Arc<str>),
    /// A copy.
    Copy {
        /// The kinds of memory on both sides.
        kind: CopyKind,
        /// The number of bytes.
        bytes: u64,
    },
    /// A fill with one byte value.
    Fill {
        /// The number of bytes.
        bytes: u64,
    },
    /// Memory became available, with poison in it.
    Allocate {
        /// The number of bytes.
        bytes: u64,
    },
    /// Memory was freed and poisoned.
    Free {
        /// The number of bytes.
        bytes: u64,
    },
    /// Memory passed to a new owner, with poison in it.
    Recycle {
        /// The number of bytes.
        bytes: u64,
    },
    /// An event's record completed.
    Record {
        /// The event.
        event: u32,
        /// The record's number.
        record: u64,
    },
    /// A wait for an event's record was passed.
    Wait {
        /// The event.
        event: u32,
        /// The record's number.
        record: u64,
    },
    /// A host function was called.
    HostFunction,
}

impl fmt::Display for LogEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "stream {}: {}", self.stream, self.action)
    }
}

impl fmt::Display for LogAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kernel(name) => write!(f, "kernel {name}"),
            Self::Copy { kind, bytes } => write!(f, "copy {kind:?} {bytes}"),
            Self::Fill { bytes } => write!(f, "fill {bytes}"),
            Self::Allocate { bytes } => write!(f, "allocate {bytes}"),
            Self::Free { bytes } => write!(f, "free {bytes}"),
            Self::Recycle { bytes } => write!(f, "recycle {bytes}"),
            Self::Record { event, record } => write!(f, "record event {event} #{record}"),
            Self::Wait { event, record } => write!(f, "wait event {event} #{record}"),
            Self::HostFunction => write!(f, "host function"),
        }
    }
}
