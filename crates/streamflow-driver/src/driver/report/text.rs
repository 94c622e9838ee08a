//! The reports of a race checker as text.

use std::fmt;
use std::ops::Range;

use super::{RaceAccess, RaceAction, RaceHook, RaceKind, RaceReport, RaceReports};
use crate::driver::AccessMode;
use crate::driver::note::Direction;

impl RaceReport {
    /// Describes what is missing between the two accesses, in words: for a race, a dependency.
    pub fn missing_edge(&self) -> String {
        let from = self.earlier.place();
        match self.kind {
            RaceKind::Unordered => {}
            RaceKind::Stale => return "it must be destroyed after its last use".to_owned(),
            RaceKind::Freed => return "the memory must be freed after its last use".to_owned(),
            RaceKind::Unwritten => {
                return "work that writes all these bytes must be queued before the read"
                    .to_owned();
            }
        }
        let Some(to) = &self.later.stream else {
            return format!(
                "the host must wait for an event that is recorded on {from} after the earlier access"
            );
        };
        format!("{to} must wait for an event that is recorded on {from} after the earlier access")
    }

    /// Returns the two accesses and what is missing between them, as a Mermaid flowchart.
    pub fn mermaid(&self) -> String {
        let missing = match self.kind {
            RaceKind::Unordered => "missing: record, then wait",
            RaceKind::Stale => "wrong: after it was destroyed",
            RaceKind::Freed => "wrong: after the free",
            RaceKind::Unwritten => "missing: a write",
        };
        let (earlier, later) = (self.earlier.label(), self.later.label());
        format!(
            "flowchart LR\n    earlier[\"{earlier}\"]\n    later[\"{later}\"]\n    \
             earlier -. \"{missing}\" .-> later\n"
        )
    }
}

impl RaceAccess {
    fn place(&self) -> &str {
        self.stream.as_deref().unwrap_or("the host")
    }

    /// The label of the access in a flowchart, without the quotes around it.
    fn label(&self) -> String {
        let mut label = format!("{}<br/>{}", self.what(), self.place());
        if let Some(RaceHook { node, hook, tick, .. }) = &self.hook {
            label.push_str(&format!("<br/>{node}, {hook}, tick {tick}"));
        }
        label.replace('`', "").replace('"', "'")
    }

    /// Describes the access as a sentence.
    fn what(&self) -> String {
        let touches = match self.mode {
            AccessMode::Read => "reads",
            AccessMode::Write => "writes",
        };
        match &self.action {
            RaceAction::Kernel { kernel, argument } => {
                format!("kernel `{kernel}` {touches} `{argument}`")
            }
            RaceAction::Library { function, argument } => {
                format!("library function `{function}` {touches} `{argument}`")
            }
            RaceAction::Copy(side) => format!("a copy {touches} its {side}"),
            RaceAction::Fill => "a fill writes it".to_owned(),
            RaceAction::Allocate => "it is allocated".to_owned(),
            RaceAction::Recycle => "it passes to a new owner".to_owned(),
            RaceAction::Free => "it is freed".to_owned(),
            RaceAction::Foreign => format!("work past streamflow {touches} it"),
            RaceAction::OnHost => format!("the host {touches} it"),
            RaceAction::Destroy(object) => format!("the {object} is destroyed"),
            RaceAction::Call(call) => format!("{call} uses its handle"),
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
        let what = match self.kind {
            RaceKind::Stale => "stale handle: a call with the handle of what was destroyed",
            RaceKind::Unordered => "race: nothing orders two accesses to",
            RaceKind::Freed => "use after free: an access to",
            RaceKind::Unwritten => "read of what nobody wrote:",
        };
        f.write_str(what)?;
        if self.kind != RaceKind::Stale {
            write!(f, " bytes {start}..{end} of an allocation of {allocation}")?;
        }
        f.write_str("\n")?;
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

impl fmt::Display for RaceReports {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let are_races = self.races.iter().all(|race| race.kind == RaceKind::Unordered);
        match self.races.len() {
            1 if !are_races => f.write_str("a wrong access was found")?,
            count if !are_races => write!(f, "{count} wrong accesses were found")?,
            0 => f.write_str("no race was found")?,
            1 => f.write_str("a race between streams, or with the host, was found")?,
            count => write!(f, "{count} races between streams, or with the host, were found")?,
        }
        if let Some(seed) = self.seed {
            write!(f, "; to repeat this run: `Platform::host().seed({seed}).build()?`")?;
        }
        f.write_str(if self.races.is_empty() { "\n" } else { "\n\n" })?;
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
