//! The log of executed operations, in the order of execution. Entries contain no addresses, so logs of two runs can be
//! compared.

use std::fmt;
use std::sync::Arc;

use crate::driver::{CopyKind, DeviceId};

/// An entry of the log: one executed operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogEntry {
    /// The device of the stream.
    pub device: DeviceId,
    /// The stream's number. The default stream of device `n` has the number `n`. The other streams are numbered in order of
    /// creation.
    pub stream: u32,
    /// The operation.
    pub action: LogAction,
}

/// An executed operation. Fields `bytes` are numbers of bytes. Events are numbered from 0 in order of creation. The records
/// of each event are numbered from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum LogAction {
    /// The host body of a kernel or of a library's function ran.
    Kernel(Arc<str>),
    /// Bytes were copied.
    Copy {
        /// The direction of the copy, and the kinds of memory on its two sides.
        kind: CopyKind,
        /// The number of bytes.
        bytes: u64,
    },
    /// Memory was filled with one byte value.
    Fill {
        /// The number of bytes.
        bytes: u64,
    },
    /// Allocated memory became available, and was poisoned.
    Allocate {
        /// The number of bytes.
        bytes: u64,
    },
    /// Memory was freed and poisoned.
    Free {
        /// The number of bytes.
        bytes: u64,
    },
    /// Memory passed to a new owner without a free, and was poisoned.
    Recycle {
        /// The number of bytes.
        bytes: u64,
    },
    /// A record of an event was reached on its stream, and so completed.
    Record {
        /// The event's number.
        event: u32,
        /// The record's number among those of the event.
        record: u64,
    },
    /// A stream went past its wait for a record of an event.
    Wait {
        /// The event's number.
        event: u32,
        /// The record's number among those of the event.
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
