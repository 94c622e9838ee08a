//! What was found, for whoever asks: to ask takes nothing away from others who do.

use std::collections::VecDeque;

use crate::driver::report::{MOST, RaceMark, RaceReport, RaceReports};

/// How many kinds of races are kept; of more, the latest.
const KEPT: usize = 4 * MOST;

/// The races so far, each kind once.
#[derive(Debug, Default)]
pub(super) struct Log {
    total: u64,
    /// Kinds are numbered in the order in which they were found.
    kinds: u64,
    kept: VecDeque<(u64, RaceReport)>,
}

impl Log {
    /// Adds a race, or counts it if there is one like it.
    pub(super) fn add(&mut self, report: RaceReport) {
        self.total += report.times;
        match self.kept.iter_mut().find(|(_, known)| known.is_like(&report)) {
            Some((_, known)) => known.times += report.times,
            None => {
                if self.kept.len() == KEPT {
                    self.kept.pop_front();
                }
                self.kept.push_back((self.kinds, report));
                self.kinds += 1;
            }
        }
    }

    /// What was found since the mark was made, which is moved.
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
        // Reports that are not kept any more are not counted.
        let first = self.kept.front().map_or(self.kinds, |(kind, _)| *kind);
        reports.more += first.saturating_sub(mark.kinds);
        mark.total = self.total;
        mark.kinds = self.kinds;
        mark.times = self.kept.iter().map(|(kind, report)| (*kind, report.times)).collect();
        reports
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::AccessMode;
    use crate::driver::report::{RaceAccess, RaceAction};

    fn race(on: usize) -> RaceReport {
        let access = |stream: String| RaceAccess {
            action: RaceAction::Fill,
            mode: AccessMode::Write,
            stream: Some(stream),
            hook: None,
            location: None,
        };
        RaceReport {
            earlier: access("first".to_owned()),
            later: access(format!("stream {on}")),
            overlap: 0..4,
            allocation: 4,
            times: 1,
        }
    }

    /// How many kinds, how often each, and how many more.
    fn told(log: &Log, mark: &mut RaceMark) -> (Vec<u64>, u64) {
        let reports = log.since(mark);
        (reports.races.iter().map(|race| race.times).collect(), reports.more)
    }

    #[test]
    fn each_mark_tells_what_is_new_since_it() {
        let (mut log, mut one, mut other) =
            (Log::default(), RaceMark::default(), RaceMark::default());
        assert_eq!(told(&log, &mut one), (vec![], 0));
        log.add(race(1));
        log.add(race(1));
        assert_eq!(told(&log, &mut one), (vec![2], 0));
        assert_eq!(told(&log, &mut one), (vec![], 0));
        log.add(race(2));
        log.add(race(1));
        assert_eq!(told(&log, &mut one), (vec![1, 1], 0));
        assert_eq!(told(&log, &mut other), (vec![3, 1], 0));
        assert_eq!(told(&log, &mut other), (vec![], 0));
    }

    #[test]
    fn what_is_not_kept_is_counted() {
        let (mut log, mut mark) = (Log::default(), RaceMark::default());
        log.add(race(0));
        log.since(&mut mark);
        (1..=KEPT).for_each(|on| log.add(race(on)));
        log.add(race(0));
        let reports = log.since(&mut mark);
        assert_eq!(reports.races.len(), MOST);
        assert_eq!(reports.more, (KEPT - MOST + 1) as u64, "one kind is kept no more");
        assert!(log.since(&mut mark).is_empty());
    }
}
