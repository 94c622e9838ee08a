//! The log of races. Each reader has a mark of its own up to which it has seen the log, so no reader removes a race from
//! another reader's reports.

use std::collections::VecDeque;

use crate::driver::report::{MAX_REPORTS, RaceMark, RaceReport, RaceReports};

/// The most kinds of races that the log stores. A further kind replaces the oldest one.
const MAX_KINDS: usize = 4 * MAX_REPORTS;

/// The races found so far, stored once per kind. Two races are of one kind if they are between the same two places in the
/// program.
#[derive(Debug, Default)]
pub(super) struct Log {
    total: u64,
    /// The number of kinds so far. Each new kind gets the next number.
    kinds: u64,
    kept: VecDeque<(u64, RaceReport)>,
}

impl Log {
    /// Adds a race, or increases the count of its kind if the kind is stored.
    pub(super) fn add(&mut self, report: RaceReport) {
        self.total += report.times;
        match self.kept.iter_mut().find(|(_, known)| known.is_like(&report)) {
            Some((_, known)) => known.times += report.times,
            None => {
                if self.kept.len() == MAX_KINDS {
                    self.kept.pop_front();
                }
                self.kept.push_back((self.kinds, report));
                self.kinds += 1;
            }
        }
    }

    /// Returns the races since `mark` was made, and moves the mark to the current end.
    pub(super) fn since(&self, mark: &mut RaceMark) -> RaceReports {
        let mut reports = RaceReports::default();
        if self.total == mark.total {
            return reports;
        }
        for (kind, report) in &self.kept {
            let times = report.times - mark.times_of(*kind);
            if times > 0 {
                reports.add(RaceReport { times, ..report.clone() });
            }
        }
        // Kinds that were replaced, and so are not in `kept`, are only counted.
        let first = self.kept.front().map_or(self.kinds, |(kind, _)| *kind);
        reports.more += first.saturating_sub(mark.kinds);
        mark.total = self.total;
        mark.kinds = self.kinds;
        mark.times = self.kept.iter().map(|(kind, report)| (*kind, report.times)).collect();
        reports
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::driver::AccessMode;
    use crate::driver::report::{RaceAccess, RaceAction, RaceKind};

    fn race(on: usize) -> RaceReport {
        let access = |stream: String| RaceAccess {
            action: RaceAction::Fill,
            mode: AccessMode::Write,
            stream: Some(stream),
            hook: None,
            location: None,
        };
        RaceReport {
            kind: RaceKind::Unordered,
            earlier: access("first".to_owned()),
            later: access(format!("stream {on}")),
            overlap: 0..4,
            allocation: 4,
            times: 1,
        }
    }

    /// Returns how often each kind was found since the mark, and how many further kinds the reports only count.
    fn counts_since(log: &Log, mark: &mut RaceMark) -> (Vec<u64>, u64) {
        let reports = log.since(mark);
        (reports.races.iter().map(|race| race.times).collect(), reports.more)
    }

    #[test]
    fn each_mark_has_its_own_new_races() {
        let (mut log, mut one, mut other) =
            (Log::default(), RaceMark::default(), RaceMark::default());
        assert_eq!(counts_since(&log, &mut one), (vec![], 0));
        log.add(race(1));
        log.add(race(1));
        assert_eq!(counts_since(&log, &mut one), (vec![2], 0));
        assert_eq!(counts_since(&log, &mut one), (vec![], 0));
        log.add(race(2));
        log.add(race(1));
        assert_eq!(counts_since(&log, &mut one), (vec![1, 1], 0));
        assert_eq!(counts_since(&log, &mut other), (vec![3, 1], 0));
        assert_eq!(counts_since(&log, &mut other), (vec![], 0));
    }

    #[test]
    fn dropped_kinds_are_counted() {
        let (mut log, mut mark) = (Log::default(), RaceMark::default());
        log.add(race(0));
        log.since(&mut mark);
        (1..=MAX_KINDS).for_each(|on| log.add(race(on)));
        log.add(race(0));
        let reports = log.since(&mut mark);
        assert_eq!(reports.races.len(), MAX_REPORTS);
        assert_eq!(reports.more, (MAX_KINDS - MAX_REPORTS + 1) as u64, "one kind was dropped");
        assert!(log.since(&mut mark).is_empty());
    }
}
