//! The checker's state: applies the calls in their order and checks each access.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::RaceMark;
use super::history::History;
use super::log::Log;
use super::op::{Call, Calls, EventOp, Work, function_number};
use super::order::{BarrierRole, HostThread, Order, Queued};
use super::site::{Action, Hook, Names, PortUse, Site, Sites};
use super::uses::{Access, Findings, HOST, Origin};
use crate::driver::note::{Direction, SourceLocation};
use crate::driver::{self, AccessMode, MemoryRange, RawEvent, RawFunction, RawStream};

/// A host thread that made a call.
#[derive(Debug)]
struct Thread {
    id: u64,
    alive: Arc<AtomicBool>,
    hook: Option<Hook>,
    tick: u64,
}

impl Thread {
    fn is_running(&self) -> bool {
        // Acquire: a thread that is seen to have ended has published all its calls.
        self.alive.load(Ordering::Acquire)
    }
}

/// A thread with its hook and the version of its clock, as they are when it makes a call.
#[derive(Debug, Clone, Copy)]
pub(super) struct Caller {
    host: HostThread,
    hook: Option<Hook>,
    tick: u64,
}

/// All that the checker keeps.
#[derive(Debug)]
pub(super) struct State {
    pub(super) order: Order,
    pub(super) history: History,
    pub(super) names: Names,
    pub(super) sites: Sites,
    pub(super) functions: HashMap<u64, Box<str>>,
    threads: Vec<Thread>,
    pub(super) log: Log,
    /// The mark of [`take`](Self::take).
    pub(super) taken: RaceMark,
    pub(super) found: Findings,
    /// The default streams of the devices.
    defaults: Box<[RawStream]>,
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
            defaults,
        }
    }

    // Threads.

    /// Whether `index` is that of the thread with this number.
    pub(super) fn is_thread(&self, index: u32, id: u64) -> bool {
        self.threads.get(index as usize).is_some_and(|thread| thread.id == id)
    }

    /// Whether a thread still runs.
    pub(super) fn is_alive(&self, id: u64) -> bool {
        self.threads.iter().any(|thread| thread.id == id && thread.is_running())
    }

    /// The index of a thread. A new thread takes the index of one that has ended, except that of the journal's
    /// `owner`: its last calls may not have been read yet.
    pub(super) fn thread(&mut self, id: u64, alive: Arc<AtomicBool>, owner: u64) -> u32 {
        if let Some(index) = self.threads.iter().position(|thread| thread.id == id) {
            return index as u32;
        }
        let fresh = Thread { id, alive, hook: None, tick: 0 };
        match self.threads.iter().position(|thread| thread.id != owner && !thread.is_running()) {
            Some(index) => {
                self.threads[index] = fresh;
                self.order.forget_thread(index as u32);
                index as u32
            }
            None => {
                self.threads.push(fresh);
                self.order.add_thread()
            }
        }
    }

    pub(super) fn enter(&mut self, thread: u32, node: &str, hook: &str, tick: u64) {
        let (node, hook) = (self.names.number(node), self.names.number(hook));
        let thread = &mut self.threads[thread as usize];
        thread.hook = Some(Hook::new(node, hook));
        thread.tick = tick;
    }

    pub(super) fn leave(&mut self, thread: u32) {
        self.threads[thread as usize].hook = None;
    }

    // Calls.

    pub(super) fn create_stream(&mut self, raw: RawStream, role: BarrierRole) {
        // The driver may reuse a handle before it has returned from destroying the old stream.
        self.order.forget_stream(raw);
        self.order.add_stream(raw, role);
    }

    pub(super) fn destroy_stream(&mut self, raw: RawStream) {
        if !self.defaults.contains(&raw) {
            self.order.forget_stream(raw);
        }
    }

    pub(super) fn load(&mut self, function: RawFunction, name: &str) {
        self.functions.insert(function_number(function), name.into());
    }

    /// The thread, as it makes calls now.
    pub(super) fn caller(&self, thread: u32) -> Caller {
        let Thread { hook, tick, .. } = self.threads[thread as usize];
        Caller { host: self.order.host(thread), hook, tick }
    }

    /// Applies calls that a thread has noted in the journal.
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

    /// Applies a call that queues work.
    #[inline(always)]
    pub(super) fn work(
        &mut self,
        caller: &Caller,
        Work { stream, action, function, location }: Work,
        accesses: impl IntoIterator<Item = driver::Access>,
    ) {
        let Caller { host, hook, tick } = *caller;
        let Queued { stream, epoch } = self.order.queue(host, stream);
        let site = self.sites.number(Site { action, function, hook, location });
        let origin = Origin { epoch, tick, stream, site };
        let clock = self.order.clock(stream).entries();
        for access in accesses {
            self.history.access(access, &origin, clock, &mut self.found);
        }
        if !self.found.races.is_empty() {
            self.report();
        }
    }

    /// Applies a record or a wait.
    #[inline(always)]
    pub(super) fn event(
        &mut self,
        caller: &Caller,
        event_op: EventOp,
        stream: RawStream,
        event: RawEvent,
    ) {
        match event_op {
            EventOp::Record => self.order.record(caller.host, stream, event),
            EventOp::RestoreRecord => self.order.restore_record(event),
            EventOp::Wait => self.order.wait(caller.host, stream, event),
        }
    }

    /// Memory was allocated in the order of a stream. This counts as a write: no use may come before it.
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

    /// Memory is freed in the order of a stream. This counts as a write: no use may come after it.
    pub(super) fn free(
        &mut self,
        thread: u32,
        stream: RawStream,
        range: MemoryRange,
        location: Option<SourceLocation>,
    ) {
        self.write(thread, stream, Action::Free, range, location);
        self.history.free(range, &mut self.found);
    }

    fn write(
        &mut self,
        thread: u32,
        stream: RawStream,
        action: Action,
        range: MemoryRange,
        location: Option<SourceLocation>,
    ) {
        let access = driver::Access { range, mode: AccessMode::Write, argument: "" };
        let work = Work { stream, action, function: 0, location };
        self.work(&self.caller(thread), work, [access]);
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
        self.host_access(thread, range, AccessMode::Write, Action::Free, location);
        self.history.remove(range);
    }

    /// The host touches memory. The access is checked and not remembered: see the folder's README.
    pub(super) fn host_access(
        &mut self,
        thread: u32,
        range: MemoryRange,
        mode: AccessMode,
        action: Action,
        location: Option<SourceLocation>,
    ) {
        let Thread { hook, tick, .. } = self.threads[thread as usize];
        let site = self.sites.number(Site { action, function: 0, hook, location });
        let origin = Origin { epoch: 0, tick, stream: HOST, site };
        let access = Access { range, mode, argument: "", origin };
        self.history.check(&access, self.order.thread_clock(thread).entries(), &mut self.found);
        if !self.found.races.is_empty() {
            self.report();
        }
    }

    /// Memory came in or went out through a port of the thread's hook.
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
