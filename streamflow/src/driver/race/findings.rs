//! From what the history found to reports that say it.

use super::history::Block;
use super::site::{Action, Passage, Site};
use super::state::State;
use super::uses::{Access, HOST, Race};
use crate::driver::report::{RaceAccess, RaceAction, RaceHook, RaceMark, RaceReport, RaceReports};

impl State {
    /// What was found since it was taken last.
    pub(super) fn take(&mut self) -> RaceReports {
        let mut told = std::mem::take(&mut self.told);
        let reports = self.since(&mut told);
        self.told = told;
        reports
    }

    /// What was found since a mark was made, which is moved.
    pub(super) fn since(&self, mark: &mut RaceMark) -> RaceReports {
        let mut reports = self.log.since(mark);
        (reports.forgotten, reports.unknown) = (self.found.forgotten, self.found.unknown);
        reports
    }

    /// Makes reports of what was found.
    #[cold]
    pub(super) fn report(&mut self) {
        let found = std::mem::take(&mut self.found.races);
        let is_first = |it: &Access| {
            matches!(self.sites.get(it.by.site).action, Action::Allocate | Action::Recycle)
        };
        let mut reports = Vec::new();
        for race in &found {
            let Race { earlier, later } = race;
            // Who missed a stream's use of memory has missed its allocation there as well.
            let other = |it: &Race| {
                it.later.range == later.range
                    && it.earlier.by.stream == earlier.by.stream
                    && !is_first(&it.earlier)
            };
            if is_first(earlier) && found.iter().any(other) {
                continue;
            }
            let Some(block) = self.history.find_block(later.range) else { continue };
            let start = later.range.address.max(earlier.range.address) - block.range.address;
            let end = later.range.end().min(earlier.range.end()) - block.range.address;
            reports.push(RaceReport {
                earlier: self.side(block, earlier),
                later: self.side(block, later),
                overlap: start..end,
                allocation: block.range.bytes,
                times: 1,
            });
        }
        reports.into_iter().for_each(|report| self.log.add(report));
    }

    fn side(&self, block: &Block, access: &Access) -> RaceAccess {
        let Site { action, function, hook, location } = self.sites.get(access.by.site);
        let argument = access.argument;
        let action = match action {
            Action::Kernel => {
                let kernel = self.functions.get(&function).map_or("?", |name| name).to_owned();
                RaceAction::Kernel { kernel, argument }
            }
            Action::Copy => RaceAction::Copy(argument),
            Action::Fill => RaceAction::Fill,
            Action::Allocate => RaceAction::Allocate,
            Action::Recycle => RaceAction::Recycle,
            Action::Free => RaceAction::Free,
            Action::Foreign => RaceAction::Foreign,
            Action::OnHost => RaceAction::OnHost,
        };
        let hook = hook.map(|hook| {
            let here = |it: &&Passage| {
                it.hook == hook && it.tick == access.by.tick && it.range.overlaps(access.range)
            };
            let passage = block.passages().iter().find(here);
            RaceHook {
                node: self.names.name(hook.node()).to_owned(),
                hook: self.names.name(hook.name()).to_owned(),
                tick: access.by.tick,
                port: passage.map(|it| (it.direction, it.port)),
            }
        });
        let stream =
            (access.by.stream != HOST).then(|| self.order.stream_name(access.by.stream).to_owned());
        RaceAccess { action, mode: access.mode, stream, hook, location }
    }
}
