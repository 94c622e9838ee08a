//! Takes the calls in their order, and looks at each access.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::clock::Clock;
use super::history::History;
use super::op::{Op, Verb, function_number};
use super::order::{Kind, Order};
use super::report::{RaceAccess, RaceAction, RaceHook, RaceReport, RaceReports};
use super::site::{Action, Hook, Names, Passage, Site, Sites};
use super::uses::Access;
use crate::driver::note::{Direction, SourceLocation};
use crate::driver::{self, AccessMode, MemoryRange, RawFunction, RawStream};

/// A host thread that made a call.
#[derive(Debug)]
struct Thread {
    id: u64,
    alive: Arc<AtomicBool>,
    hook: Option<Hook>,
    tick: u64,
    /// The work whose accesses follow.
    current: Current,
}

impl Thread {
    fn lives(&self) -> bool {
        // Acquire: what the thread has published before it ended is seen then.
        self.alive.load(Ordering::Acquire)
    }
}

/// Work whose accesses come next.
#[derive(Debug, Clone, Copy, Default)]
struct Current {
    stream: u32,
    epoch: u64,
    site: u32,
}

/// All that is known.
#[derive(Debug)]
pub(super) struct State {
    pub(super) order: Order,
    history: History,
    names: Names,
    sites: Sites,
    functions: HashMap<u64, Box<str>>,
    threads: Vec<Thread>,
    reports: RaceReports,
    /// Space for what an access races with.
    found: Vec<Access>,
    /// The default streams of the devices.
    defaults: Box<[RawStream]>,
}

impl State {
    pub(super) fn new(defaults: Box<[RawStream]>) -> Self {
        let mut order = Order::new();
        for stream in &defaults {
            order.add_stream(*stream, Kind::Default);
        }
        Self {
            order,
            history: History::new(),
            names: Names::default(),
            sites: Sites::new(),
            functions: HashMap::new(),
            threads: Vec::new(),
            reports: RaceReports::default(),
            found: Vec::new(),
            defaults,
        }
    }

    // Threads.

    /// The index of a thread if it is this one's.
    pub(super) fn is_thread(&self, index: u32, id: u64) -> bool {
        self.threads.get(index as usize).is_some_and(|thread| thread.id == id)
    }

    /// Whether a thread still runs.
    pub(super) fn is_alive(&self, id: u64) -> bool {
        self.threads.iter().any(|thread| thread.id == id && thread.lives())
    }

    /// The index of a thread; a new one takes that of one that is gone.
    pub(super) fn thread(&mut self, id: u64, alive: Arc<AtomicBool>) -> u32 {
        if let Some(index) = self.threads.iter().position(|thread| thread.id == id) {
            return index as u32;
        }
        let fresh = Thread { id, alive, hook: None, tick: 0, current: Current::default() };
        match self.threads.iter().position(|thread| !thread.lives()) {
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
        thread.hook = Some(Hook { node, name: hook });
        thread.tick = tick;
    }

    pub(super) fn leave(&mut self, thread: u32) {
        self.threads[thread as usize].hook = None;
    }

    // Calls.

    /// The index of a stream. One that was made before the calls came through here is taken for
    /// non-blocking: that assumes the least about what orders it.
    #[inline]
    pub(super) fn stream(&mut self, raw: RawStream) -> u32 {
        match self.order.find_stream(raw) {
            Some(stream) => stream,
            None => self.order.add_stream(raw, Kind::NonBlocking),
        }
    }

    pub(super) fn create_stream(&mut self, raw: RawStream, kind: Kind) {
        // The driver may give a number out again whose destruction it still has to report.
        self.order.forget_stream(raw);
        self.order.add_stream(raw, kind);
    }

    pub(super) fn destroy_stream(&mut self, raw: RawStream) {
        if !self.defaults.contains(&raw) {
            self.order.forget_stream(raw);
        }
    }

    pub(super) fn load(&mut self, function: RawFunction, name: &str) {
        self.functions.insert(function_number(function), name.into());
    }

    #[inline]
    pub(super) fn apply(&mut self, thread: u32, op: &Op) {
        match op.verb() {
            Verb::Access => self.access(thread, op),
            Verb::Work => self.work(thread, op),
            Verb::Record => {
                let stream = self.stream(op.stream());
                self.order.record(thread, stream, op.of_event());
            }
            Verb::Unrecord => self.order.unrecord(op.of_event()),
            Verb::Wait => {
                let stream = self.stream(op.stream());
                self.order.wait(thread, stream, op.of_event());
            }
        }
    }

    #[inline]
    fn work(&mut self, thread: u32, op: &Op) {
        let stream = self.stream(op.stream());
        let epoch = self.order.submit(thread, stream);
        let working = &mut self.threads[thread as usize];
        let (action, function, location) = (op.action, op.function(), op.location());
        let site = self.sites.number(Site { action, function, hook: working.hook, location });
        working.current = Current { stream, epoch, site };
    }

    #[inline]
    fn access(&mut self, thread: u32, op: &Op) {
        let range = op.range();
        let working = &self.threads[thread as usize];
        let Current { stream, epoch, site } = working.current;
        if range.bytes == 0 {
            return;
        }
        let Some(block) = self.history.block(range) else { return };
        let (mode, tick, argument) = (op.mode(), working.tick, op.argument());
        let access = Access { range, epoch, tick, argument, stream, site, mode };
        self.history.access(block, access, self.order.clock(stream), &mut self.found);
        if !self.found.is_empty() {
            self.report_work(thread, block, op);
        }
    }

    /// The access of an operation races with what was found.
    #[cold]
    fn report_work(&mut self, thread: u32, block: u32, op: &Op) {
        let Thread { current: Current { stream, epoch, site }, tick, .. } =
            self.threads[thread as usize];
        let (range, argument, mode) = (op.range(), op.argument(), op.mode());
        let access = Access { range, epoch, tick, argument, stream, site, mode };
        self.report(block, Some(stream), &access);
    }

    /// Memory was allocated in the order of a stream: a write, since nobody may use it before.
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

    /// Memory is freed in the order of a stream: a write, since nobody may use it afterwards.
    pub(super) fn free(
        &mut self,
        thread: u32,
        stream: RawStream,
        range: MemoryRange,
        location: Option<SourceLocation>,
    ) {
        self.write(thread, stream, Action::Free, range, location);
        self.history.free(range);
    }

    fn write(
        &mut self,
        thread: u32,
        stream: RawStream,
        action: Action,
        range: MemoryRange,
        location: Option<SourceLocation>,
    ) {
        self.apply(thread, &Op::work(stream, action, 0, location));
        let access = driver::Access { range, mode: AccessMode::Write, argument: "" };
        self.apply(thread, &Op::access(&access));
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

    /// The host touches memory. It is not remembered: see the module's text.
    pub(super) fn host_access(
        &mut self,
        thread: u32,
        range: MemoryRange,
        mode: AccessMode,
        action: Action,
        location: Option<SourceLocation>,
    ) {
        if range.bytes == 0 {
            return;
        }
        let Some(block) = self.history.block(range) else { return };
        let clock: &Clock = self.order.knows(thread);
        self.history.check(block, range, mode, clock, &mut self.found);
        if !self.found.is_empty() {
            let Thread { hook, tick, .. } = self.threads[thread as usize];
            let site = self.sites.number(Site { action, function: 0, hook, location });
            // The host is no stream and has no epoch.
            let access = Access { range, epoch: 0, tick, argument: "", stream: 0, site, mode };
            self.report(block, None, &access);
        }
    }

    pub(super) fn pass(
        &mut self,
        thread: u32,
        range: MemoryRange,
        port: &'static str,
        direction: Direction,
    ) {
        let Thread { hook, tick, .. } = self.threads[thread as usize];
        if let Some(hook) = hook {
            self.history.pass(Passage { hook, tick, port, direction, range });
        }
    }

    // Reports.

    /// What was found since it was taken last.
    pub(super) fn take(&mut self) -> RaceReports {
        let mut reports = std::mem::take(&mut self.reports);
        reports.forgotten = self.history.forgotten;
        reports.unknown = self.history.unknown;
        reports
    }

    /// `later` races with what was found; `stream` is its own, if it is not the host's.
    #[cold]
    fn report(&mut self, block: u32, stream: Option<u32>, later: &Access) {
        let found = std::mem::take(&mut self.found);
        for before in &found {
            // Who missed a stream's use of memory has missed its allocation there as well.
            let first = |it: &Access| {
                matches!(self.sites.get(it.site).action, Action::Allocate | Action::Recycle)
            };
            if first(before) && found.iter().any(|it| it.stream == before.stream && !first(it)) {
                continue;
            }
            let allocation = self.history.get(block).range;
            let start = later.range.address.max(before.range.address) - allocation.address;
            let end = later.range.end().min(before.range.end()) - allocation.address;
            let report = RaceReport {
                earlier: self.side(block, Some(before.stream), before),
                later: self.side(block, stream, later),
                overlap: start..end,
                allocation: allocation.bytes,
                times: 1,
            };
            tracing::debug!(%report, "a race");
            self.reports.add(report);
        }
    }

    fn side(&self, block: u32, stream: Option<u32>, access: &Access) -> RaceAccess {
        let Site { action, function, hook, location } = self.sites.get(access.site);
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
            Action::Host => RaceAction::HostAccess,
        };
        let hook = hook.map(|hook| {
            let here = |it: &&Passage| {
                it.hook == hook && it.tick == access.tick && it.range.overlaps(access.range)
            };
            let passage = self.history.get(block).passages().iter().find(here);
            RaceHook {
                node: self.names.name(hook.node).to_owned(),
                hook: self.names.name(hook.name).to_owned(),
                tick: access.tick,
                port: passage.map(|it| (it.direction, it.port)),
            }
        });
        let stream = stream.map(|stream| self.order.stream_name(stream).to_owned());
        RaceAccess { action, mode: access.mode, stream, hook, location }
    }
}
