//! The reports of a race checker, as values. `text` has their text.

mod text;

use std::ops::Range;

use super::AccessMode;
use super::note::{Direction, SourceLocation};

/// The most races in one [`RaceReports`]. Beyond that only their number is kept.
pub(super) const MAX_REPORTS: usize = 32;

/// What is wrong with two accesses to the same bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RaceKind {
    /// One of them is a write, and nothing orders them.
    Unordered,
    /// The earlier one is the free: the later one touches memory that was freed, in whatever order.
    Freed,
    /// The later one reads bytes that nobody has written since the earlier one: the memory's allocation, or its passing
    /// to a new owner. Memory counts as written where its address left streamflow.
    Unwritten,
    /// The later one is a call with the handle of a stream or an event that was destroyed; the driver may have given the
    /// same handle to another one since. No memory belongs to it: the allocation has 0 bytes.
    Stale,
}

/// Two accesses to the same bytes. The later one is wrong: a race, a use after the free, or a read of what
/// nobody wrote. Or the use of a handle after its object was destroyed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RaceReport {
    /// What is wrong.
    pub kind: RaceKind,
    /// The access that was queued first.
    pub earlier: RaceAccess,
    /// The other access.
    pub later: RaceAccess,
    /// The bytes that both touch, counted from the beginning of the allocation. Of bytes that nobody has written, those
    /// that the later access reads first.
    pub overlap: Range<u64>,
    /// How long the allocation is, in bytes.
    pub allocation: u64,
    /// How often this was found: the same two places, in this tick or others.
    pub times: u64,
}

/// One side of a race.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RaceAccess {
    /// The kind of work that touched the memory.
    pub action: RaceAction,
    /// Read or written.
    pub mode: AccessMode,
    /// The stream, by its label or its number; `None` for the host.
    pub stream: Option<String>,
    /// The operator's node, hook and tick; `None` outside of operators.
    pub hook: Option<RaceHook>,
    /// The place in the program that caused it, if known.
    pub location: Option<SourceLocation>,
}

/// The hook of an operator that an access comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RaceHook {
    /// The node's name.
    pub node: String,
    /// `start`, `compute` or `stop`.
    pub hook: String,
    /// How many ticks the node had completed.
    pub tick: u64,
    /// The port through which the memory came in or went out in this hook, if it did.
    pub port: Option<(Direction, &'static str)>,
}

/// A kind of work that touches memory.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum RaceAction {
    /// A kernel.
    Kernel {
        /// Its name.
        kernel: String,
        /// The argument that the memory was passed as.
        argument: &'static str,
    },
    /// A function of a library.
    Library {
        /// Its name.
        function: String,
        /// The argument that the memory was passed as.
        argument: &'static str,
    },
    /// A copy: its `source`, or its `target`.
    Copy(&'static str),
    /// A fill.
    Fill,
    /// The allocation: no use may come before it.
    Allocate,
    /// The memory of a dropped value passes to a new owner.
    Recycle,
    /// The memory is freed.
    Free,
    /// Work that was queued without streamflow, and its access declared.
    Foreign,
    /// The host itself.
    OnHost,
    /// A stream or an event is destroyed: `stream` or `event`.
    Destroy(&'static str),
    /// A call with a handle, by its kind.
    Call(&'static str),
}

impl RaceReport {
    /// Whether the two reports are the same race, perhaps in another tick or on another allocation.
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

/// What was found since it was last taken or since a mark, and counts of what the checker did not see.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RaceReports {
    /// The races and the other wrong accesses, in order of discovery, each once for the same two places.
    pub races: Vec<RaceReport>,
    /// How many more races there were.
    pub more: u64,
    /// How many accesses were forgotten because there were too many to remember: races with them are not
    /// found.
    pub forgotten: u64,
    /// How many accesses were to memory that this driver did not allocate: they were not checked.
    pub unknown: u64,
    /// The seed of the simulator, which repeats the order of execution.
    pub seed: Option<u64>,
}

impl RaceReports {
    /// Whether no race was found.
    pub fn is_empty(&self) -> bool {
        self.races.is_empty() && self.more == 0
    }

    /// Adds a race, or counts it if the same race is there.
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

/// How many races a reader has seen, for [`Observer::races_since`](super::Observer::races_since), which returns the
/// new ones. By default none.
#[derive(Debug, Clone, Default)]
pub struct RaceMark {
    /// How many races there were.
    pub(super) total: u64,
    /// How many kinds there were.
    pub(super) kinds: u64,
    /// The number of each kind that was kept, in order, and how often it was found.
    pub(super) times: Vec<(u64, u64)>,
}

impl RaceMark {
    pub(super) fn times_of(&self, kind: u64) -> u64 {
        let found = self.times.binary_search_by_key(&kind, |(kind, _)| *kind);
        found.map_or(0, |index| self.times[index].1)
    }
}
