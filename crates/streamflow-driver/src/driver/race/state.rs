//! The checker's state. Applies each call to the clocks and the history, in the order of the calls, and compares each access
//! with the earlier ones.

mod threads;

use std::any::Any;
use std::collections::HashMap;

use super::RaceMark;
use super::access::{Access, Findings, HOST, NO_ROWS, Origin};
use super::history::History;
use super::log::Log;
use super::op::{Call, Calls, EventOp, Work, function_number, library_number};
use super::order::{BarrierRole, CallId, Order, Queued};
use super::site::{Action, Names, PortUse, Site, Sites};
use crate::driver::note::{Direction, SourceLocation};
use crate::driver::{self, AccessMode, MemoryRange, RawEvent, RawFunction, RawStream, Rows};
pub(super) use threads::Caller;
use threads::Thread;

/// The checker's state, behind its lock.
#[derive(Debug)]
pub(super) struct State {
    pub(super) order: Order,
    pub(super) history: History,
    pub(super) names: Names,
    pub(super) sites: Sites,
    pub(super) functions: HashMap<u64, Box<str>>,
    threads: Vec<Thread>,
    pub(super) log: Log,
    /// The mark up to which [`take`](Self::take) has returned the races.
    pub(super) taken: RaceMark,
    pub(super) found: Findings,
    /// The wrappers of host functions that have been called, to be reused for later ones. Their type is `Any`, since a
    /// wrapper's type contains the checker.
    pub(super) idle_functions: Vec<Box<dyn Any + Send>>,
    /// The default streams of all devices.
    defaults: Box<[RawStream]>,
    adopted: Vec<Adopted>,
}

/// A range of memory of other code that is adopted. One range may be adopted several times, and the memory may be
/// streamflow's own, which streamflow had given to other code.
#[derive(Debug)]
struct Adopted {
    range: MemoryRange,
    /// Whether [`disown`](State::disown) counts as a free of the memory.
    ends: bool,
}

impl State {
    pub(super) fn new(defaults: Box<[RawStream]>) -> Self {
        let mut order = Order::new();
        for stream in &defaults {
            order.add_stream(*stream, BarrierRole::Default);
        }
        Self {
            order,
            history: History::new(),
            names: Names::default(),
            sites: Sites::new(),
            functions: HashMap::new(),
            threads: Vec::new(),
            log: Log::default(),
            taken: RaceMark::default(),
            found: Findings::default(),
            idle_functions: Vec::new(),
            defaults,
            adopted: Vec::new(),
        }
    }

    pub(super) fn create_stream(&mut self, raw: RawStream, role: BarrierRole) {
        self.order.add_stream(raw, role);
    }

    pub(super) fn destroy_stream(&mut self, thread: u32, raw: RawStream) {
        if !self.defaults.contains(&raw) {
            self.order.stream(raw);
            if !self.report_stale(thread, "its destruction") {
                self.order.remove_stream(raw);
            }
        }
    }

    pub(super) fn destroy_event(&mut self, thread: u32, raw: RawEvent) {
        self.order.look_up_event(raw);
        if !self.report_stale(thread, "its destruction") {
            self.order.remove_event(raw);
        }
    }

    /// Notes a query of the time between two events, to find stale handles. The query orders nothing.
    pub(super) fn measure(&mut self, thread: u32, start: RawEvent, end: RawEvent) {
        self.order.look_up_event(start);
        self.order.look_up_event(end);
        self.report_stale(thread, "a measurement of time");
    }

    pub(super) fn load(&mut self, function: RawFunction, name: &str) {
        self.functions.insert(function_number(function), name.into());
    }

    /// Remembers the name of a library's function, for reports.
    pub(super) fn name_library(&mut self, function: &'static str) {
        let number = library_number(function);
        self.functions.entry(number).or_insert_with(|| function.into());
    }

    /// Applies the calls that the thread with index `thread` has noted in the journal.
    pub(super) fn apply(&mut self, thread: u32, calls: Calls<'_>) {
        let caller = self.caller(thread);
        for call in calls {
            match call {
                Call::Work(work, accesses) => self.work(&caller, work, accesses),
                Call::Event(event_op, stream, event) => {
                    self.event(&caller, event_op, stream, event)
                }
            }
        }
    }

    /// Applies a call that queues work, and compares its accesses with the earlier ones.
    #[inline(always)]
    pub(super) fn work(
        &mut self,
        caller: &Caller,
        Work { stream, action, function, location }: Work,
        accesses: impl IntoIterator<Item = (driver::Access, Option<impl Into<Rows>>)>,
    ) {
        let Caller { host, hook, tick } = *caller;
        let Queued { stream, epoch } = self.order.queue(host, stream);
        if !self.order.stale.is_empty() {
            self.report_stale_calls(caller, "work", location);
        }
        let site = self.sites.number(Site { action, function, hook, location });
        let origin = Origin { epoch, tick, stream, site };
        let clock = self.order.clock(stream).entries();
        if action.hands_over() {
            return self.hand_over(action, accesses, &origin);
        }
        for (access, rows) in accesses {
            self.history.access(&access, rows, &origin, clock, &mut self.found);
        }
        self.history.make_room(self.found.most_reads);
        if !self.found.races.is_empty() {
            self.report();
        }
    }

    /// As [`work`](Self::work), for work that gives memory another owner, or by which the memory's address leaves
    /// streamflow.
    #[cold]
    #[inline(never)]
    fn hand_over(
        &mut self,
        action: Action,
        accesses: impl IntoIterator<Item = (driver::Access, Option<impl Into<Rows>>)>,
        origin: &Origin,
    ) {
        for (access, rows) in accesses {
            let driver::Access { range, mode, argument, .. } = access;
            let rows = rows.map(Into::into);
            if action == Action::Foreign {
                self.history.end_blank(range, &mut self.found);
            }
            let clock = self.order.clock(origin.stream).entries();
            self.history.access(&access, rows, origin, clock, &mut self.found);
            let access = Access { range, mode, argument, rows, origin: *origin };
            match action {
                Action::Free => self.history.free(access, &mut self.found),
                Action::Foreign => {
                    self.history.leave(range, self.order.clock(origin.stream));
                    self.order.begin_epoch(origin.stream);
                }
                _ => self.history.begin_content(access, &mut self.found),
            }
        }
        if !self.found.races.is_empty() {
            self.report();
        }
    }

    /// Applies a record or a wait that has succeeded.
    #[inline(always)]
    fn event(&mut self, caller: &Caller, event_op: EventOp, stream: RawStream, event: RawEvent) {
        match event_op {
            EventOp::Record => self.order.record(caller.host, stream, event),
            EventOp::Wait => self.order.wait(caller.host, stream, event),
        }
        if !self.order.stale.is_empty() {
            self.report_stale_calls(caller, event_op.name(), None);
        }
    }

    /// Begins a record or a wait, before the driver is called.
    pub(super) fn begin_event(
        &mut self,
        caller: &Caller,
        event_op: EventOp,
        stream: RawStream,
        event: RawEvent,
    ) -> CallId {
        let call = match event_op {
            EventOp::Record => self.order.begin_record(caller.host, stream, event),
            EventOp::Wait => self.order.begin_wait(caller.host, stream, event),
        };
        self.report_stale_calls(caller, event_op.name(), None);
        call
    }

    /// Begins the record or the wait that is open in the journal, of the thread with index `thread`.
    #[cold]
    pub(super) fn begin(&mut self, thread: u32, mut calls: Calls<'_>) -> Option<CallId> {
        let Some(Call::Event(event_op, stream, event)) = calls.next() else { return None };
        Some(self.begin_event(&self.caller(thread), event_op, stream, event))
    }

    /// Notes an allocation in the order of a stream. The allocation counts as a write: each use must come after it.
    pub(super) fn allocate(
        &mut self,
        thread: u32,
        stream: RawStream,
        range: MemoryRange,
        location: Option<SourceLocation>,
    ) {
        self.history.allocate(range);
        self.write(thread, stream, Action::Allocate, range, location);
    }

    /// Notes a free in the order of a stream. The free counts as a write: each use must come before it.
    pub(super) fn free(
        &mut self,
        thread: u32,
        stream: RawStream,
        range: MemoryRange,
        location: Option<SourceLocation>,
    ) {
        self.write(thread, stream, Action::Free, range, location);
    }

    fn write(
        &mut self,
        thread: u32,
        stream: RawStream,
        action: Action,
        range: MemoryRange,
        location: Option<SourceLocation>,
    ) {
        let access = driver::Access { range, mode: AccessMode::Write, argument: "", rows: None };
        let work = Work { stream, action, function: 0, location };
        self.work(&self.caller(thread), work, [(access, NO_ROWS)]);
    }

    /// Adopts memory of other code: work may use the memory from now on, and its content is defined.
    ///
    /// If the memory is already in use, streamflow had given it to other code, and it now comes back. No call shows how that
    /// code has ordered its own work. The clocks of the declared foreign accesses show which work came before that code. The
    /// accesses in these clocks, and those that the adopting thread has found complete, count as complete. Accesses after
    /// the memory was given to other code are compared as usual.
    pub(super) fn adopt(&mut self, thread: u32, range: MemoryRange) {
        let is_new = !self.history.is_in_use(range);
        if is_new {
            self.history.allocate(range);
        } else {
            let known = self.order.thread_clock(thread);
            self.history.come_back(range, known, &mut self.found);
        }
        self.adopted.push(Adopted { range, ends: is_new });
    }

    /// Gives memory back to other code in the order of a stream. This counts as a free, unless the memory is adopted a
    /// second time or is streamflow's own.
    pub(super) fn disown(
        &mut self,
        thread: u32,
        stream: RawStream,
        range: MemoryRange,
        location: Option<SourceLocation>,
    ) {
        let Some(index) = self.adopted.iter().position(|it| it.range == range) else { return };
        if !self.adopted.swap_remove(index).ends {
            return;
        }
        match self.adopted.iter_mut().find(|it| it.range.overlaps(range)) {
            Some(other) => other.ends = true,
            None => self.free(thread, stream, range, location),
        }
    }

    pub(super) fn allocate_pinned(&mut self, range: MemoryRange) {
        self.history.allocate(range);
    }

    pub(super) fn free_pinned(
        &mut self,
        thread: u32,
        range: MemoryRange,
        location: Option<SourceLocation>,
    ) {
        let free = self.host_access(thread, range, AccessMode::Write, Action::Free, location);
        self.history.free(free, &mut self.found);
    }

    /// Compares an access of the host with earlier work, and does not remember it. Later work on the same memory needs a
    /// borrow of it, and safe Rust orders borrows that conflict, also between threads. So no event can be missing between
    /// the access and that work.
    pub(super) fn host_access(
        &mut self,
        thread: u32,
        range: MemoryRange,
        mode: AccessMode,
        action: Action,
        location: Option<SourceLocation>,
    ) -> Access {
        let Thread { hook, tick, .. } = self.threads[thread as usize];
        let site = self.sites.number(Site { action, function: 0, hook, location });
        let origin = Origin { epoch: 0, tick, stream: HOST, site };
        let access = Access { range, mode, argument: "", rows: None, origin };
        self.history.check(&access, self.order.thread_clock(thread).entries(), &mut self.found);
        if !self.found.races.is_empty() {
            self.report();
        }
        access
    }

    /// Notes that memory came in or went out through a port of the hook that the thread is in.
    pub(super) fn remember_port(
        &mut self,
        thread: u32,
        range: MemoryRange,
        port: &'static str,
        direction: Direction,
    ) {
        let Thread { hook, tick, .. } = self.threads[thread as usize];
        if let Some(hook) = hook {
            self.history.remember_port(PortUse { hook, tick, port, direction, range });
        }
    }
}
