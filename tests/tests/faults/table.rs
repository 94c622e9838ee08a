//! The fault table: which trials were made for each call and error, and how they ended.

use std::collections::BTreeMap;
use std::fmt;

use streamflow_tests::layers::faults::{Fault, Target};

use super::reports::Ending;

/// The trials in which calls of one driver function failed.
#[derive(Debug, Default)]
struct Row {
    /// The number of trials for each error, together with the way in which the call fails.
    tried: BTreeMap<String, u64>,
    endings: BTreeMap<Ending, u64>,
    unexplained: u64,
}

/// The trials of one program, or of all.
#[derive(Debug, Default)]
pub(crate) struct Table {
    rows: BTreeMap<(&'static str, &'static str), Row>,
    /// Descriptions of the first trials that are not explained.
    pub(crate) first: Vec<String>,
    pub(crate) trials: u64,
    pub(crate) unexplained: u64,
}

/// The most unexplained trials that are described.
const DESCRIBED: usize = 20;

impl Table {
    pub(crate) fn add(
        &mut self,
        target: &Target,
        fault: Fault,
        what: &str,
        result: Result<Ending, String>,
    ) {
        let row = self.rows.entry((fault.function, target.call)).or_default();
        let name = fault.code.name.trim_start_matches("CUDA_ERROR_");
        let sticky = if fault.code.is_sticky() { "*" } else { "" };
        let effect = if fault.takes_effect { "+" } else { "" };
        let lasts = if fault.lasts { "…" } else { "" };
        *row.tried.entry(format!("{name}{sticky}{effect}{lasts}")).or_default() += 1;
        self.trials += 1;
        match result {
            Ok(ending) => *row.endings.entry(ending).or_default() += 1,
            Err(trouble) => {
                row.unexplained += 1;
                self.unexplained += 1;
                if self.first.len() < DESCRIBED {
                    self.first.push(format!("{what}: {target}: {fault}: {trouble}"));
                }
            }
        }
    }

    /// Returns how many trials made the call that was to fail.
    pub(crate) fn reached(&self) -> u64 {
        let of = |row: &Row| row.endings.get(&Ending::NotReached).copied().unwrap_or_default();
        self.trials - self.rows.values().map(of).sum::<u64>()
    }

    /// Returns a summary in one line.
    pub(crate) fn summary(&self) -> String {
        let mut endings: BTreeMap<Ending, u64> = BTreeMap::new();
        for row in self.rows.values() {
            for (ending, count) in &row.endings {
                *endings.entry(*ending).or_default() += count;
            }
        }
        let Self { trials, unexplained, .. } = self;
        format!("{trials} trials: {}, {unexplained} unexplained", words(&endings))
    }
}

fn words(endings: &BTreeMap<Ending, u64>) -> String {
    let word = |ending: &Ending| match ending {
        Ending::Returned => "returned",
        Ending::Logged => "logged in a drop",
        Ending::ShutDown => "not an error while CUDA shuts down",
        Ending::TriedAgain => "tried again",
        Ending::HeldBack => "logged in a drop, and the end of the run",
        Ending::SentOneByOne => "sent one by one",
        Ending::BoundAgain => "repeated after the device was bound",
        Ending::NotReached => "not reached",
    };
    let each: Vec<String> =
        endings.iter().map(|(ending, count)| format!("{count} {}", word(ending))).collect();
    each.join(", ")
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "`*`: sticky; `+`: the call takes effect and fails; `…`: it fails from then on"
        )?;
        for ((function, call), row) in &self.rows {
            let trials: u64 = row.tried.values().sum();
            writeln!(
                f,
                "{function} ({call}): {trials} trials: {}, {} unexplained",
                words(&row.endings),
                row.unexplained
            )?;
            let tried: Vec<String> =
                row.tried.iter().map(|(error, count)| format!("{error} {count}")).collect();
            for line in tried.chunks(5) {
                writeln!(f, "    {}", line.join(", "))?;
            }
        }
        write!(f, "{}", self.summary())
    }
}
