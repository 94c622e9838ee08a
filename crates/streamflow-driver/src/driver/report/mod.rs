//! The reports of a race checker, as values. The module `text` formats them.

mod text;

use std::ops::Range;

use super::AccessMode;
use super::note::{Direction, SourceLocation};

/// The most races in one [`RaceReports`]. Further races are only counted.
pub(super) const MAX_REPORTS: usize = 32;

/// The kind of error that a later access makes with respect to an earlier access to the same bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RaceKind {
    /// At least one of the two accesses is a write, and nothing orders them.
    Unordered,
    /// The earlier access is the free of the memory, and the later access touches freed memory, in whatever order the
    /// two executed.
    Freed,
    /// The later access reads bytes that no work has written since the earlier access, which allocated the memory or
    /// passed it to a new owner. Memory whose address was handed to other code counts as written.
    Unwritten,
    /// The later access is a call with the handle of a stream or an event that was destroyed; the driver may have given
    /// the same handle to another object since. No memory is involved: the allocation has 0 bytes.
    Stale,
}

/// Two accesses to the same bytes with an error in the later access: a race, a use after the free, or a read of bytes
/// that no work wrote. Also the use of a stream's or an event's handle after its object was destroyed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RaceReport {
    /// The kind of error.
    pub kind: RaceKind,
    /// The access that was queued first.
    pub earlier: RaceAccess,
    /// The access that was queued later.
    pub later: RaceAccess,
    /// The bytes that both accesses touch, counted from the beginning of the allocation. For a read of bytes that no
    /// work has written: the first range of such bytes.
    pub overlap: Range<u64>,
    /// The length of the allocation in bytes.
    pub allocation: u64,
    /// The number of times that this error was found, in this tick and in others: by the same two kinds of access at
    /// the same source locations.
    pub times: u64,
}

/// One of the two accesses of a race.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RaceAccess {
    /// The kind of work that touched the memory.
    pub action: RaceAction,
    /// Whether the bytes are read or written.
    pub mode: AccessMode,
    /// The label or number of the stream; `None` for the host.
    pub stream: Option<String>,
    /// The operator's node, hook and tick; `None` outside of operators.
    pub hook: Option<RaceHook>,
    /// The place in the program that caused the access, if known.
    pub location: Option<SourceLocation>,
}

/// The hook of an operator that an access comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RaceHook {
    /// The node's name.
    pub node: String,
    /// The hook's name: `start`, `compute` or `stop`.
    pub hook: String,
    /// The number of ticks that the node had completed.
    pub tick: u64,
    /// The port through which the memory came in or went out in this hook, if there was one.
    pub port: Option<(Direction, &'static str)>,
}

/// A kind of work that touches memory.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum RaceAction {
    /// A kernel touches the memory.
    Kernel {
        /// The kernel's name.
        kernel: String,
        /// The argument that the memory was passed as.
        argument: &'static str,
    },
    /// A function of a library touches the memory.
    Library {
        /// The function's name.
        function: String,
        /// The argument that the memory was passed as.
        argument: &'static str,
    },
    /// A copy touches the memory. The text is `source` or `target`.
    Copy(&'static str),
    /// A fill of memory with a byte.
    Fill,
    /// The allocation of the memory: every use must be ordered after it.
    Allocate,
    /// The memory of a dropped value passes to a new owner.
    Recycle,
    /// The memory is freed.
    Free,
    /// Work that was queued without a call of streamflow. The program has declared its access.
    Foreign,
    /// The host itself accesses the memory.
    OnHost,
    /// A stream or an event is destroyed. The text is `stream` or `event`.
    Destroy(&'static str),
    /// A call that passes a handle. The text is the kind of the handle.
    Call(&'static str),
}

impl RaceReport {
    /// Whether the two reports are of the same race, perhaps found in another tick or in another allocation.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        self.kind == other.kind
            && self.earlier.is_like(&other.earlier)
            && self.later.is_like(&other.later)
    }
}

impl RaceAccess {
    pub(super) fn is_like(&self, other: &Self) -> bool {
        let place = |hook: &Option<RaceHook>| {
            hook.as_ref().map(|hook| (hook.node.clone(), hook.hook.clone(), hook.port))
        };
        (&self.action, self.mode, &self.stream, self.location)
            == (&other.action, other.mode, &other.stream, other.location)
            && place(&self.hook) == place(&other.hook)
    }
}

/// The errors that were found since the reports were last taken, or since a [`RaceMark`], and counts of accesses that
/// the checker did not see.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RaceReports {
    /// The races and the other errors, in order of discovery. Errors that the same two source locations cause have one entry.
    pub races: Vec<RaceReport>,
    /// The number of further races, which found no room in `races`.
    pub more: u64,
    /// The number of accesses that the checker has forgotten because there were too many to remember: it finds no races
    /// with them.
    pub forgotten: u64,
    /// The number of accesses to memory that this driver did not allocate: the checker has not checked these accesses.
    pub unknown: u64,
    /// The seed of the simulator that repeats the order of execution.
    pub seed: Option<u64>,
}

impl RaceReports {
    /// Whether no race was found.
    pub fn is_empty(&self) -> bool {
        self.races.is_empty() && self.more == 0
    }

    /// Adds a race, or counts it if the list already has the same race.
    pub(super) fn add(&mut self, report: RaceReport) {
        if let Some(known) = self.races.iter_mut().find(|known| known.is_like(&report)) {
            known.times += report.times;
        } else if self.races.len() < MAX_REPORTS {
            self.races.push(report);
        } else {
            self.more += report.times;
        }
    }

    /// Adds later reports of the same driver.
    #[doc(hidden)]
    pub fn extend(&mut self, later: Self) {
        later.races.into_iter().for_each(|race| self.add(race));
        self.more += later.more;
        self.forgotten = self.forgotten.max(later.forgotten);
        self.unknown = self.unknown.max(later.unknown);
        self.seed = later.seed;
    }
}

/// The races that one reader has seen so far: [`Observer::races_since`](super::Observer::races_since) returns only
/// races that are not in the reader's mark. A default mark has no race.
#[derive(Debug, Clone, Default)]
pub struct RaceMark {
    /// The number of races that the checker had found.
    pub(super) total: u64,
    /// The number of different races that the checker had found.
    pub(super) kinds: u64,
    /// For each different race that the checker stored, its number, in rising order, and how often it was found.
    pub(super) times: Vec<(u64, u64)>,
}

impl RaceMark {
    pub(super) fn times_of(&self, kind: u64) -> u64 {
        let found = self.times.binary_search_by_key(&kind, |(kind, _)| *kind);
        found.map_or(0, |index| self.times[index].1)
    }
}
