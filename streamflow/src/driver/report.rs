//! The reports of a race checker, as values and as text.

use std::fmt;
use std::ops::Range;

use super::AccessMode;
use super::note::{Direction, SourceLocation};

/// The most races in one [`RaceReports`]. Beyond that only their number is kept.
pub(super) const MAX_REPORTS: usize = 32;

/// A race: two accesses to the same bytes, one of them a write, that nothing orders.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RaceReport {
    /// The access that was queued first.
    pub earlier: RaceAccess,
    /// The other access.
    pub later: RaceAccess,
    /// The bytes that both touch, counted from the beginning of the allocation.
    pub overlap: Range<u64>,
    /// How long the allocation is, in bytes.
    pub allocation: u64,
    /// How often this race was found: the same two places, in this tick or others.
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
}

impl RaceReport {
    /// The dependency that is missing, in words.
    pub fn missing_edge(&self) -> String {
        let from = self.earlier.place();
        let Some(to) = &self.later.stream else {
            return format!(
                "the host must wait for an event that is recorded on {from} after the earlier access"
            );
        };
        format!("{to} must wait for an event that is recorded on {from} after the earlier access")
    }

    /// The two accesses and the missing dependency as a Mermaid flowchart.
    pub fn mermaid(&self) -> String {
        let (earlier, later) = (self.earlier.label(), self.later.label());
        format!(
            "flowchart LR\n    earlier[\"{earlier}\"]\n    later[\"{later}\"]\n    \
             earlier -. \"missing: record, then wait\" .-> later\n"
        )
    }

    /// Whether the two reports are the same race, perhaps in another tick or on another allocation.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        self.earlier.is_like(&other.earlier) && self.later.is_like(&other.later)
    }
}

impl RaceAccess {
    fn place(&self) -> &str {
        self.stream.as_deref().unwrap_or("the host")
    }

    pub(super) fn is_like(&self, other: &Self) -> bool {
        let place = |hook: &Option<RaceHook>| {
            hook.as_ref().map(|hook| (hook.node.clone(), hook.hook.clone(), hook.port))
        };
        (&self.action, self.mode, &self.stream, self.location)
            == (&other.action, other.mode, &other.stream, other.location)
            && place(&self.hook) == place(&other.hook)
    }

    /// The label of a flowchart's node, which is in quotes there.
    fn label(&self) -> String {
        let mut label = format!("{}<br/>{}", self.what(), self.place());
        if let Some(RaceHook { node, hook, tick, .. }) = &self.hook {
            label.push_str(&format!("<br/>{node}, {hook}, tick {tick}"));
        }
        label.replace('`', "").replace('"', "'")
    }

    /// The access as a sentence.
    fn what(&self) -> String {
        let touches = match self.mode {
            AccessMode::Read => "reads",
            AccessMode::Write => "writes",
        };
        match &self.action {
            RaceAction::Kernel { kernel, argument } => {
                format!("kernel `{kernel}` {touches} `{argument}`")
            }
            RaceAction::Copy(side) => format!("a copy {touches} its {side}"),
            RaceAction::Fill => "a fill writes it".to_owned(),
            RaceAction::Allocate => "it is allocated".to_owned(),
            RaceAction::Recycle => "it passes to a new owner".to_owned(),
            RaceAction::Free => "it is freed".to_owned(),
            RaceAction::Foreign => format!("work past streamflow {touches} it"),
            RaceAction::OnHost => format!("the host {touches} it"),
        }
    }
}

impl RaceAccess {
    /// Writes the access, its hook and its location, separated by `between`.
    fn write(&self, f: &mut fmt::Formatter<'_>, between: &str) -> fmt::Result {
        f.write_str(&self.what())?;
        if let Some(stream) = &self.stream {
            write!(f, " on {stream}")?;
        }
        if let Some(RaceHook { node, hook, tick, port }) = &self.hook {
            write!(f, "{between}in `{node}` ({hook}, tick {tick}")?;
            match port {
                Some((Direction::Inward, port)) => write!(f, ", input `{port}`)")?,
                Some((Direction::Outward, port)) => write!(f, ", output `{port}`)")?,
                None => f.write_str(")")?,
            }
        }
        match self.location {
            Some(location) => write!(f, "{between}at {location}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for RaceAccess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, ", ")
    }
}

impl fmt::Display for RaceReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Range { start, end } = self.overlap;
        let allocation = self.allocation;
        writeln!(
            f,
            "race: nothing orders two accesses to bytes {start}..{end} of an allocation of {allocation}"
        )?;
        for (name, access) in [("earlier:", &self.earlier), ("later:  ", &self.later)] {
            write!(f, "  {name} ")?;
            access.write(f, "\n           ")?;
            f.write_str("\n")?;
        }
        if self.times > 1 {
            writeln!(f, "  found:   {} times", self.times)?;
        }
        writeln!(f, "  missing: {}\n", self.missing_edge())?;
        self.mermaid().lines().try_for_each(|line| writeln!(f, "    {line}"))
    }
}

/// Races that were found since they were last taken or since a mark, and counts of what the checker did not see.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RaceReports {
    /// The races, in order of discovery, each kind once.
    pub races: Vec<RaceReport>,
    /// How many more races there were.
    pub more: u64,
    /// How many accesses were forgotten because there were too many to remember: races with them are not
    /// found.
    pub forgotten: u64,
    /// How many accesses were to memory that this driver did not allocate: they were not checked.
    pub unknown: u64,
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
    pub(crate) fn extend(&mut self, later: Self) {
        later.races.into_iter().for_each(|race| self.add(race));
        self.more += later.more;
        self.forgotten = self.forgotten.max(later.forgotten);
        self.unknown = self.unknown.max(later.unknown);
    }
}

/// How many races a reader has seen, for [`Driver::races_since`](super::Driver::races_since), which returns the
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

impl fmt::Display for RaceReports {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.races.len() {
            0 => writeln!(f, "no race was found")?,
            1 => writeln!(f, "a race between streams, or with the host, was found\n")?,
            count => writeln!(f, "{count} races between streams, or with the host, were found\n")?,
        }
        for (index, race) in self.races.iter().enumerate() {
            let space = if index > 0 { "\n" } else { "" };
            write!(f, "{space}{race}")?;
        }
        if self.more > 0 {
            writeln!(f, "\n{} more were found at other places and are not listed", self.more)?;
        }
        if self.forgotten > 0 {
            let count = self.forgotten;
            writeln!(f, "\n{count} accesses were forgotten: races with them are not found")?;
        }
        if self.unknown > 0 {
            let count = self.unknown;
            writeln!(f, "\n{count} accesses to memory from elsewhere were not looked at")?;
        }
        Ok(())
    }
}
