//! The [`Observer`] of a [`RaceChecker`]: facts that the runtime tells it in addition to the calls, and its reports.

use super::current_thread;
use super::layer::write;
use super::op::Work;
use super::site::Action;
use super::{RaceChecker, RaceMark, RaceReports};
use crate::driver::{Access, DeviceId, DriverResult, MemoryRange, Note, Observer, RawStream};

impl Observer for RaceChecker {
    fn next(&self) -> Option<&dyn Observer> {
        Some(self.below.observer())
    }

    unsafe fn recycle(&self, stream: RawStream, range: MemoryRange) -> DriverResult<()> {
        // SAFETY: the caller's contract.
        unsafe { self.below.observer().recycle(stream, range) }?;
        self.shared.work(stream, Action::Recycle, 0, (&[write(range, "")], &[]));
        Ok(())
    }

    unsafe fn adopt(&self, device: DeviceId, range: MemoryRange) -> DriverResult<()> {
        // SAFETY: the caller's contract.
        unsafe { self.below.observer().adopt(device, range) }?;
        let mut locked = self.shared.lock();
        let thread = locked.thread;
        locked.state().adopt(thread, range);
        Ok(())
    }

    unsafe fn disown(&self, stream: RawStream, range: MemoryRange) -> DriverResult<()> {
        let location = current_thread::take_location();
        let mut locked = self.shared.lock();
        let thread = locked.thread;
        locked.state().disown(thread, stream, range, location);
        drop(locked);
        // SAFETY: the caller's contract.
        unsafe { self.below.observer().disown(stream, range) }
    }

    fn watches(&self) -> bool {
        true
    }

    unsafe fn observe(&self, note: &Note<'_>) {
        // SAFETY: the caller's contract.
        unsafe { self.below.observer().observe(note) };
        if let Note::At(location) = note {
            return current_thread::set_location(location);
        }
        let mut locked = self.shared.lock();
        let thread = locked.thread;
        let state = locked.state();
        match *note {
            Note::At(_) => {}
            Note::Enter { node, hook, tick } => state.enter(thread, node, hook, tick),
            Note::Leave => state.leave(thread),
            Note::Port { range, port, direction } => {
                state.remember_port(thread, range, port, direction);
            }
            Note::HostAccess { range, mode, location } => {
                state.host_access(thread, range, mode, Action::OnHost, Some(location));
            }
            Note::ForeignAccess { stream, range, rows, mode, location } => {
                let action = Action::Foreign;
                let work = Work { stream, action, function: 0, location: Some(location) };
                let access = Access { range, mode, argument: "", rows: None };
                state.work(&state.caller(thread), work, [(access, rows)]);
            }
            Note::Relies { on, record, by } => {
                let order = &mut state.order;
                let (on, by) = (order.stream(on), by.map(|by| order.stream(by)));
                order.rely(thread, on, record, by);
            }
            Note::StreamLabel { stream, label } => {
                let stream = state.order.stream(stream);
                state.order.name_stream(stream, label);
            }
        }
    }

    fn take_races(&self) -> RaceReports {
        RaceReports { seed: self.below.observer().seed(), ..self.shared.take() }
    }

    fn taken_races(&self) -> RaceMark {
        self.shared.taken()
    }

    fn races_since(&self, mark: &mut RaceMark) -> RaceReports {
        RaceReports { seed: self.below.observer().seed(), ..self.shared.since(mark) }
    }
}
