//! The conversion of races that the history has found to reports.

use super::access::{Access, HOST, Race};
use super::history::Block;
use super::order::Stale;
use super::site::{Action, Hook, PortUse, Site};
use super::state::{Caller, State};
use crate::driver::AccessMode;
use crate::driver::note::SourceLocation;
use crate::driver::report::{
    RaceAccess, RaceAction, RaceHook, RaceKind, RaceMark, RaceReport, RaceReports,
};

impl State {
    /// Returns the races that were found since the previous call of this function.
    pub(super) fn take(&mut self) -> RaceReports {
        let mut taken = std::mem::take(&mut self.taken);
        let reports = self.since(&mut taken);
        self.taken = taken;
        reports
    }

    /// Returns the races that were found since `mark` was made, and moves the mark to the current end.
    pub(super) fn since(&self, mark: &mut RaceMark) -> RaceReports {
        let mut reports = self.log.since(mark);
        (reports.forgotten, reports.unknown) = (self.found.forgotten, self.found.unknown);
        reports
    }

    /// Converts the races in `found` to reports, and adds them to the log.
    #[cold]
    pub(super) fn report(&mut self) {
        let found = std::mem::take(&mut self.found.races);
        let begins_memory = |it: &Access| {
            matches!(self.sites.get(it.origin.site).action, Action::Allocate | Action::Recycle)
        };
        let mut reports = Vec::new();
        for race in &found {
            let Race { kind, earlier, later } = race;
            // A race with the allocation of memory is not reported if there is also one with a use of the memory on the same
            // stream. Work that does not come after the use does not come after the allocation, either.
            let other = |it: &Race| {
                it.kind == RaceKind::Unordered
                    && it.later.range == later.range
                    && it.earlier.origin.stream == earlier.origin.stream
                    && !begins_memory(&it.earlier)
            };
            if *kind == RaceKind::Unordered && begins_memory(earlier) && found.iter().any(other) {
                continue;
            }
            let Some(block) = self.history.find_uncached(later.range) else { continue };
            let start = later.range.address.max(earlier.range.address) - block.range.address;
            let end = later.range.end().min(earlier.range.end()) - block.range.address;
            reports.push(RaceReport {
                kind: *kind,
                earlier: self.side(block, earlier),
                later: self.side(block, later),
                overlap: start..end,
                allocation: block.range.bytes,
                times: 1,
            });
        }
        reports.into_iter().for_each(|report| self.log.add(report));
    }

    /// Reports the stale handles in a call that a thread makes. Returns whether there are any.
    pub(super) fn report_stale(&mut self, thread: u32, call: &'static str) -> bool {
        let is_stale = !self.order.stale.is_empty();
        if is_stale {
            let caller = self.caller(thread);
            self.report_stale_calls(&caller, call, None);
        }
        is_stale
    }

    #[cold]
    pub(super) fn report_stale_calls(
        &mut self,
        caller: &Caller,
        call: &'static str,
        location: Option<SourceLocation>,
    ) {
        for stale in std::mem::take(&mut self.order.stale) {
            let object = match stale {
                Stale::Stream => "stream",
                Stale::Event => "event",
            };
            let hook = caller.hook.map(|hook| self.hook(hook, caller.tick));
            let (mode, stream) = (AccessMode::Write, None);
            let action = RaceAction::Destroy(object);
            let earlier =
                RaceAccess { action, mode, stream: stream.clone(), hook: None, location: None };
            let later = RaceAccess { action: RaceAction::Call(call), mode, stream, hook, location };
            let (kind, overlap, allocation) = (RaceKind::Stale, 0..0, 0);
            self.log.add(RaceReport { kind, earlier, later, overlap, allocation, times: 1 });
        }
    }

    fn hook(&self, hook: Hook, tick: u64) -> RaceHook {
        RaceHook {
            node: self.names.name(hook.node()).to_owned(),
            hook: self.names.name(hook.name()).to_owned(),
            tick,
            port: None,
        }
    }

    fn side(&self, block: &Block, access: &Access) -> RaceAccess {
        let Site { action, function, hook, location } = self.sites.get(access.origin.site);
        let argument = access.argument;
        let action = match action {
            Action::Kernel => {
                let kernel = self.functions.get(&function).map_or("?", |name| name).to_owned();
                RaceAction::Kernel { kernel, argument }
            }
            Action::Library => {
                let function = self.functions.get(&function).map_or("?", |name| name).to_owned();
                RaceAction::Library { function, argument }
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
            let in_this_tick = |it: &&PortUse| {
                it.hook == hook && it.tick == access.origin.tick && it.range.overlaps(access.range)
            };
            let port_use = block.port_uses().iter().find(in_this_tick);
            let port = port_use.map(|it| (it.direction, it.port));
            RaceHook { port, ..self.hook(hook, access.origin.tick) }
        });
        let stream = (access.origin.stream != HOST)
            .then(|| self.order.stream_name(access.origin.stream).to_owned());
        RaceAccess { action, mode: access.mode, stream, hook, location }
    }
}
