//! A driver that knows the truth: the real order of work, the allocated memory, and the work that the device has done.

use std::fmt;
use std::sync::{Arc, Mutex as Plain};

use loom::thread::{self, ThreadId};

use super::{
    Access, AccessMode, CopyKind, CopyOp, Coscheduling, DeviceId, DeviceInfo, Driver, DriverError,
    DriverResult, GreenContext, HostFunction, Image, KernelSource, Launch, Layer, Libraries,
    LibraryCall, LoadedKernel, MemoryRange, MemorySource, Note, Observer, RawEvent, RawModule,
    RawStream, SmSizes, Sticky, StreamOptions,
};
use crate::explore::{Observed, plain};
use crate::sync::Mutex;

const STREAMS: usize = 6;
const EVENTS: usize = 32;
const DEVICE: DeviceId = DeviceId(0);

/// The work that comes before some other work or record: for each stream, how many pieces of its work.
pub(crate) type Before = [u64; STREAMS];

/// A device, its driver and the host. Each stream and each event has a lock, so the calls for one of them take effect one after
/// the other. They share no lock, since that would order more than a driver promises.
pub(crate) struct Device {
    /// The work before the next work of each stream.
    queues: [Mutex<Before>; STREAMS],
    /// The work before the latest record of each event; `None` for an event that was not recorded.
    events: [Mutex<Option<Before>>; EVENTS],
    handles: Observed<Handles>,
    memory: Observed<Memory>,
    /// The work that each thread has found complete.
    hosts: Plain<Vec<(ThreadId, Before)>>,
    /// The work that the device has done.
    done: Plain<Before>,
    /// Whether the driver takes notes.
    watches: bool,
    settings: Plain<Settings>,
    functions: Plain<Vec<(Before, HostFunction)>>,
    wrong: Plain<Vec<&'static str>>,
}

// SAFETY: the caller that queues a host function vouches that its data may be sent. All other fields are `Send` and `Sync`.
unsafe impl Send for Device {}
// SAFETY: as above.
unsafe impl Sync for Device {}

/// The handles of streams and events. A destroyed event's handle is given out again at once.
#[derive(Default)]
struct Handles {
    streams: usize,
    events: usize,
    free_events: Vec<usize>,
}

/// The settings of a model.
#[derive(Default)]
struct Settings {
    /// The call that the driver refuses once.
    refused: Option<&'static str>,
    /// Whether the device does nothing: queries are answered "not yet".
    is_busy: bool,
    /// How many bytes the device has, if the model checks that.
    capacity: Option<u64>,
    /// The streams of the program. Freeing memory on them is a mistake.
    of_users: Vec<u64>,
    /// Whether work is executed only in calls of the driver, as by the simulator.
    waits_for_calls: bool,
    /// The thread that is in a deleter. This thread must make no call.
    in_deleter: Option<ThreadId>,
}

/// Bytes of page-locked memory, aligned as a driver promises.
#[derive(Clone, Copy)]
#[repr(align(256))]
struct Aligned(#[allow(dead_code, reason = "it is read by its address")] [u8; 256]);

#[derive(Default)]
struct Memory {
    blocks: Vec<Block>,
    /// The ranges that were freed. The latest one of the needed length is given out first.
    free: Vec<MemoryRange>,
    next: u64,
}

struct Block {
    range: MemoryRange,
    uses: Vec<(MemoryRange, AccessMode, usize, u64)>,
    /// Stream and number of the free.
    freed: Option<(usize, u64)>,
    /// Page-locked memory.
    host: Option<Box<[Aligned]>>,
}

impl Device {
    pub(crate) fn new(watches: bool) -> Arc<Self> {
        let handles = Handles { streams: 1, ..Handles::default() };
        Arc::new(Self {
            queues: [(); STREAMS].map(|()| Mutex::new([0; STREAMS])),
            events: [(); EVENTS].map(|()| Mutex::default()),
            handles: Observed::new(handles),
            memory: Observed::new(Memory { next: 0x10000, ..Memory::default() }),
            hosts: Plain::default(),
            done: Plain::default(),
            watches,
            settings: Plain::default(),
            functions: Plain::default(),
            wrong: Plain::default(),
        })
    }

    // ---- for models ----

    /// Makes the driver refuse its next call of this name.
    pub(crate) fn refuse(&self, call: &'static str) {
        plain(&self.settings).refused = Some(call);
    }

    pub(crate) fn set_busy(&self, is_busy: bool) {
        plain(&self.settings).is_busy = is_busy;
    }

    pub(crate) fn set_capacity(&self, bytes: u64) {
        plain(&self.settings).capacity = Some(bytes);
    }

    /// Makes the driver execute work only in its calls.
    pub(crate) fn set_waits_for_calls(&self) {
        plain(&self.settings).waits_for_calls = true;
    }

    /// Calls a function of streamflow that other code may call under any lock: it may wait for nothing and make no call.
    pub(crate) fn in_deleter<R>(&self, deleter: impl FnOnce() -> R) -> R {
        plain(&self.settings).in_deleter = Some(thread::current().id());
        let result = crate::lock::without_locks(deleter);
        plain(&self.settings).in_deleter = None;
        result
    }

    /// Queues a write of lent memory by other code, on that code's stream.
    pub(crate) fn foreign_work(&self, stream: RawStream, range: MemoryRange) {
        let before = self.queue(stream);
        self.access(slot(stream), &before, range, AccessMode::Write);
    }

    /// Notes that other code gets back its own memory: a mistake if the device still uses the memory.
    pub(crate) fn given_back(&self, range: MemoryRange) {
        let (done, memory) = (*plain(&self.done), plain(&self.memory.value));
        let of_memory = |block: &&Block| block.range == range && block.host.is_none();
        let mut uses = memory.blocks.iter().filter(of_memory).flat_map(|block| &block.uses);
        if uses.any(|(.., of, work)| done[*of] < *work) {
            self.report("memory goes back while the device uses it");
        }
    }

    /// Makes it a mistake to free memory on these streams.
    pub(crate) fn set_of_users(&self, streams: [RawStream; 2]) {
        plain(&self.settings).of_users = streams.map(RawStream::handle).into();
    }

    /// Returns the mistakes found so far.
    pub(crate) fn wrong(&self) -> Vec<&'static str> {
        plain(&self.wrong).clone()
    }

    /// Panics if something was wrong.
    pub(crate) fn check(&self) {
        let wrong = self.wrong();
        assert!(wrong.is_empty(), "{}", wrong[0]);
    }

    /// How many pieces of a stream's work the device has done.
    pub(crate) fn done(&self, stream: RawStream) -> u64 {
        plain(&self.done)[slot(stream)]
    }

    /// How much memory is allocated: blocks and bytes.
    pub(crate) fn allocated(&self) -> (usize, u64) {
        let memory = self.memory.get();
        let live = memory.blocks.iter().filter(|block| block.freed.is_none());
        live.fold((0, 0), |(blocks, bytes), block| (blocks + 1, bytes + block.range.bytes))
    }

    /// Queues work without memory. Returns its number.
    pub(crate) fn work(&self, stream: RawStream) -> u64 {
        self.queue(stream)[slot(stream)]
    }

    /// Calls the queued host functions, after the device has done the work before them.
    pub(crate) fn call_host_functions(&self) {
        let functions = std::mem::take(&mut *plain(&self.functions));
        for (before, HostFunction { call, data }) in functions {
            merge(&mut plain(&self.done), &before);
            self.mark_complete(&before);
            // SAFETY: the caller that queued the function vouched for its data; this is the one call.
            unsafe { call(data) };
        }
    }

    // ---- the truth ----

    fn report(&self, what: &'static str) {
        plain(&self.wrong).push(what);
    }

    /// Checks the rules of every driver call, at its beginning.
    fn called(&self) {
        if crate::lock::holds_one_of("::memory::") {
            self.report("a lock of memory is held in a driver call");
        }
        if plain(&self.settings).in_deleter == Some(thread::current().id()) {
            self.report("a deleter calls the driver");
        }
    }

    fn refused(&self, call: &'static str) -> DriverResult<()> {
        let mut settings = plain(&self.settings);
        if settings.refused != Some(call) {
            return Ok(());
        }
        settings.refused = None;
        let (name, message) = ("REFUSED".to_owned(), String::new());
        Err(DriverError::Call { call, device: DEVICE, code: 1, name, message })
    }

    /// Queues work. Returns the work that comes before its end: all work before it, and the work itself.
    fn queue(&self, stream: RawStream) -> Before {
        let found = self.found_complete();
        let mut queue = self.queues[slot(stream)].lock().unwrap();
        merge(&mut queue, &found);
        queue[slot(stream)] += 1;
        *queue
    }

    fn found_complete(&self) -> Before {
        let (hosts, this) = (plain(&self.hosts), thread::current().id());
        hosts.iter().find(|(id, _)| *id == this).map_or([0; STREAMS], |(_, found)| *found)
    }

    fn mark_complete(&self, before: &Before) {
        let (mut hosts, this) = (plain(&self.hosts), thread::current().id());
        match hosts.iter_mut().find(|(id, _)| *id == this) {
            Some((_, found)) => merge(found, before),
            None => hosts.push((this, *before)),
        }
    }

    /// Makes the device do the work in `before`, and no more. The calling thread finds it complete.
    fn complete(&self, before: &Before) {
        merge(&mut plain(&self.done), before);
        self.mark_complete(before);
    }

    /// Notes an access of work, and reports the earlier accesses that it should come after and does not.
    fn access(&self, stream: usize, before: &Before, range: MemoryRange, mode: AccessMode) {
        // Work that the device has done comes before the access, even if this thread has not found the work complete.
        let mut before = *before;
        merge(&mut before, &plain(&self.done));
        // The lock is plain: whether two accesses are ordered does not depend on which one is noted first.
        let mut memory = plain(&self.memory.value);
        let inside =
            |it: &&mut Block| it.range.address <= range.address && range.end() <= it.range.end();
        let Some(block) = memory.blocks.iter_mut().rev().find(inside) else { return };
        if block.freed.is_some() {
            return self.report("freed memory is used");
        }
        for (other, other_mode, of, work) in &block.uses {
            let conflict = mode == AccessMode::Write || *other_mode == AccessMode::Write;
            if conflict && other.overlaps(range) && before[*of] < *work {
                self.report("an access does not come after another one");
            }
        }
        block.uses.push((range, mode, stream, before[stream]));
    }

    fn allocate_at(
        &self,
        stream: usize,
        before: &Before,
        bytes: u64,
        host: Option<Box<[Aligned]>>,
    ) -> MemoryRange {
        let mut memory = self.memory.get();
        let taken = |block: &&Block| block.freed.is_none_or(|(stream, free)| before[stream] < free);
        let taken: u64 = memory.blocks.iter().filter(taken).map(|block| block.range.bytes).sum();
        if plain(&self.settings).capacity.is_some_and(|capacity| taken + bytes > capacity) {
            self.report("memory is allocated before the frees that make its room");
        }
        let range = match (&host, memory.free.iter().rposition(|free| free.bytes == bytes)) {
            (Some(host), _) => MemoryRange { address: host.as_ptr() as u64, bytes },
            (None, Some(index)) => memory.free.remove(index),
            (None, None) => {
                memory.next += bytes.next_multiple_of(4096);
                MemoryRange { address: memory.next, bytes }
            }
        };
        let uses = match host {
            Some(_) => Vec::new(),
            None => vec![(range, AccessMode::Write, stream, before[stream])],
        };
        memory.blocks.push(Block { range, uses, freed: None, host });
        range
    }

    /// Frees memory after the work in `before`.
    fn free_after(&self, range: MemoryRange, before: &Before, free: (usize, u64)) {
        let mut memory = self.memory.get();
        let Some(block) = memory.blocks.iter_mut().rev().find(|it| it.range == range) else {
            return self.report("memory is freed that was not allocated");
        };
        if block.freed.is_some() {
            return self.report("memory is freed twice");
        }
        if block.uses.iter().any(|(.., of, work)| before[*of] < *work) {
            self.report("memory is freed before its last use");
        }
        block.freed = Some(free);
        if block.host.is_none() {
            memory.free.push(range);
        }
    }
}

/// A stream's index.
fn slot(stream: RawStream) -> usize {
    stream.handle() as usize - 0x100
}

fn index(event: RawEvent) -> usize {
    event.handle() as usize - 0x200
}

fn merge(into: &mut Before, other: &Before) {
    *into = std::array::from_fn(|index| into[index].max(other[index]));
}

// SAFETY: a model reads and writes only page-locked memory, and that memory is real; this driver keeps account of all
// else that a driver promises.
unsafe impl Driver for Device {
    fn name(&self) -> &str {
        "model"
    }

    fn device_count(&self) -> usize {
        1
    }

    fn device_info(&self, _: DeviceId) -> DriverResult<DeviceInfo> {
        Ok(DeviceInfo {
            name: "model".to_owned(),
            ordinal: None,
            compute_capability: (9, 0),
            multiprocessors: 1,
            total_memory: 1 << 30,
            priorities: (0, 0),
            max_shared_bytes: 0,
            is_simulated: true,
            waits_for_device: true,
        })
    }

    fn bind(&self, _: DeviceId) -> DriverResult<()> {
        self.called();
        Ok(())
    }

    fn sticky_error(&self) -> Option<Sticky> {
        None
    }

    unsafe fn device_of_stream(&self, _: u64) -> DriverResult<DeviceId> {
        Ok(DEVICE)
    }

    fn default_stream(&self, _: DeviceId) -> RawStream {
        RawStream::new(DEVICE, 0x100)
    }

    fn create_stream(&self, _: DeviceId, _: StreamOptions) -> DriverResult<RawStream> {
        self.called();
        let mut handles = self.handles.get();
        handles.streams += 1;
        assert!(handles.streams <= STREAMS, "too many streams");
        Ok(RawStream::new(DEVICE, 0xff + handles.streams as u64))
    }

    fn sm_sizes(&self, _: DeviceId, _: Coscheduling) -> DriverResult<SmSizes> {
        unreachable!("no model needs it")
    }

    fn create_green_contexts(
        &self,
        _: DeviceId,
        _: Coscheduling,
        _: &[u32],
    ) -> DriverResult<Vec<GreenContext>> {
        unreachable!("no model needs it")
    }

    unsafe fn destroy_stream(&self, _: RawStream) -> DriverResult<()> {
        self.called();
        Ok(())
    }

    unsafe fn query_stream(&self, stream: RawStream) -> DriverResult<bool> {
        self.called();
        let before = *self.queues[slot(stream)].lock().unwrap();
        let is_busy = plain(&self.settings).is_busy;
        if !is_busy {
            self.complete(&before);
        }
        Ok(!is_busy)
    }

    unsafe fn synchronize_stream(&self, stream: RawStream) -> DriverResult<()> {
        self.called();
        let before = *self.queues[slot(stream)].lock().unwrap();
        self.complete(&before);
        if !self.works_alone() {
            self.call_host_functions();
        }
        Ok(())
    }

    fn create_event(&self, _: DeviceId) -> DriverResult<RawEvent> {
        self.called();
        let mut handles = self.handles.get();
        let event = handles.free_events.pop().unwrap_or_else(|| {
            handles.events += 1;
            handles.events - 1
        });
        *self.events[event].lock().unwrap() = None;
        Ok(RawEvent::new(DEVICE, 0x200 + event as u64))
    }

    fn create_timing_event(&self, device: DeviceId) -> DriverResult<RawEvent> {
        self.create_event(device)
    }

    unsafe fn elapsed(&self, _: RawEvent, _: RawEvent) -> DriverResult<f64> {
        Ok(0.0)
    }

    unsafe fn destroy_event(&self, event: RawEvent) -> DriverResult<()> {
        self.called();
        self.handles.get().free_events.push(index(event));
        Ok(())
    }

    unsafe fn record_event(&self, event: RawEvent, stream: RawStream) -> DriverResult<()> {
        self.called();
        let queue = self.queues[slot(stream)].lock().unwrap();
        self.refused("record")?;
        *self.events[index(event)].lock().unwrap() = Some(*queue);
        Ok(())
    }

    unsafe fn wait_event(&self, stream: RawStream, event: RawEvent) -> DriverResult<()> {
        self.called();
        let found = self.found_complete();
        let mut queue = self.queues[slot(stream)].lock().unwrap();
        self.refused("wait")?;
        merge(&mut queue, &found);
        if let Some(before) = *self.events[index(event)].lock().unwrap() {
            merge(&mut queue, &before);
        }
        Ok(())
    }

    unsafe fn query_event(&self, event: RawEvent) -> DriverResult<bool> {
        self.called();
        let before = *self.events[index(event)].lock().unwrap();
        let is_busy = plain(&self.settings).is_busy;
        if !is_busy && let Some(before) = before {
            self.complete(&before);
        }
        Ok(!is_busy)
    }

    unsafe fn synchronize_event(&self, event: RawEvent) -> DriverResult<()> {
        self.called();
        let before = *self.events[index(event)].lock().unwrap();
        self.complete(&before.unwrap_or_default());
        Ok(())
    }

    unsafe fn allocate(
        &self,
        stream: RawStream,
        bytes: u64,
        source: MemorySource,
    ) -> DriverResult<MemoryRange> {
        self.called();
        let is_of_user = plain(&self.settings).of_users.contains(&stream.handle());
        let before = self.queue(stream);
        let range = self.allocate_at(slot(stream), &before, bytes, None);
        if source == MemorySource::Freed && is_of_user {
            self.report("room is taken on a stream of a user");
        }
        Ok(range)
    }

    unsafe fn free(&self, stream: RawStream, range: MemoryRange) -> DriverResult<()> {
        self.called();
        if plain(&self.settings).of_users.contains(&stream.handle()) {
            self.report("memory is freed on a stream of a user");
        }
        let before = self.queue(stream);
        self.free_after(range, &before, (slot(stream), before[slot(stream)]));
        Ok(())
    }

    fn trim(&self, _: DeviceId, _: u64) -> DriverResult<()> {
        self.called();
        Ok(())
    }

    unsafe fn wait_for_device(&self, stream: RawStream) -> DriverResult<()> {
        self.called();
        for other in (0..STREAMS).filter(|other| *other != slot(stream)) {
            let before = *self.queues[other].lock().unwrap();
            merge(&mut self.queues[slot(stream)].lock().unwrap(), &before);
        }
        Ok(())
    }

    fn allocate_pinned(&self, _: DeviceId, bytes: u64) -> DriverResult<MemoryRange> {
        self.called();
        let host = vec![Aligned([0; 256]); bytes.div_ceil(256) as usize].into_boxed_slice();
        Ok(self.allocate_at(0, &[0; STREAMS], bytes, Some(host)))
    }

    unsafe fn free_pinned(&self, _: DeviceId, range: MemoryRange) -> DriverResult<()> {
        self.called();
        let done = *plain(&self.done);
        self.free_after(range, &done, (0, 0));
        Ok(())
    }

    unsafe fn copy(&self, stream: RawStream, copy: &CopyOp) -> DriverResult<()> {
        self.called();
        self.refused("copy")?;
        let before = self.queue(stream);
        self.access(slot(stream), &before, copy.source, AccessMode::Read);
        self.access(slot(stream), &before, copy.target, AccessMode::Write);
        if copy.kind == CopyKind::DeviceToPageable {
            self.complete(&before);
        }
        Ok(())
    }

    unsafe fn fill(&self, stream: RawStream, range: MemoryRange, _: u8) -> DriverResult<()> {
        self.called();
        self.refused("fill")?;
        let before = self.queue(stream);
        self.access(slot(stream), &before, range, AccessMode::Write);
        Ok(())
    }

    unsafe fn load_module(&self, _: DeviceId, _: &str, _: &Image) -> DriverResult<RawModule> {
        unreachable!("no model needs it")
    }

    unsafe fn load_kernel(&self, _: DeviceId, _: &KernelSource<'_>) -> DriverResult<LoadedKernel> {
        unreachable!("no model needs it")
    }

    unsafe fn launch(&self, stream: RawStream, launch: &Launch<'_>) -> DriverResult<()> {
        self.called();
        self.refused("launch")?;
        let before = self.queue(stream);
        for Access { range, mode, .. } in launch.accesses {
            self.access(slot(stream), &before, *range, *mode);
        }
        Ok(())
    }

    unsafe fn launch_host_function(
        &self,
        stream: RawStream,
        function: HostFunction,
    ) -> DriverResult<()> {
        self.called();
        let before = self.queue(stream);
        plain(&self.functions).push((before, function));
        Ok(())
    }

    fn libraries(&self) -> &dyn Libraries {
        self
    }

    fn observer(&self) -> &dyn Observer {
        self
    }
}

// SAFETY: no library function is called.
unsafe impl Libraries for Device {
    unsafe fn call_library(&self, _: RawStream, _: &LibraryCall<'_>) -> DriverResult<()> {
        unreachable!("no model needs it")
    }
}

impl Observer for Device {
    fn next(&self) -> Option<&dyn Observer> {
        None
    }

    unsafe fn recycle(&self, stream: RawStream, range: MemoryRange) -> DriverResult<()> {
        self.called();
        let before = self.queue(stream);
        self.access(slot(stream), &before, range, AccessMode::Write);
        Ok(())
    }

    unsafe fn adopt(&self, _: DeviceId, range: MemoryRange) -> DriverResult<()> {
        self.called();
        let block = Block { range, uses: Vec::new(), freed: None, host: None };
        self.memory.get().blocks.push(block);
        Ok(())
    }

    unsafe fn disown(&self, stream: RawStream, range: MemoryRange) -> DriverResult<()> {
        self.called();
        let before = *self.queues[slot(stream)].lock().unwrap();
        let mut memory = self.memory.get();
        let Some(block) = memory.blocks.iter_mut().rev().find(|it| it.range == range) else {
            unreachable!("it was adopted");
        };
        if block.uses.iter().any(|(.., of, work)| before[*of] < *work) {
            self.report("memory is disowned before its last use");
        }
        block.freed = Some((slot(stream), before[slot(stream)]));
        Ok(())
    }

    fn watches(&self) -> bool {
        self.watches
    }

    fn works_alone(&self) -> bool {
        !plain(&self.settings).waits_for_calls
    }

    unsafe fn observe(&self, note: &Note<'_>) {
        let Note::HostAccess { range, mode, .. } = note else { return };
        let (done, memory) = (*plain(&self.done), plain(&self.memory.value));
        for block in memory.blocks.iter().filter(|it| it.freed.is_none()) {
            for (other, other_mode, of, work) in &block.uses {
                let conflict = *mode == AccessMode::Write || *other_mode == AccessMode::Write;
                if conflict && other.overlaps(*range) && done[*of] < *work {
                    self.report("the host touches memory that the device uses");
                }
            }
        }
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Device")
    }
}

/// A device with frequent calls that only call host functions, so that all work is done above it.
#[derive(Debug)]
pub(crate) struct Idle(pub(crate) Arc<Device>);

// SAFETY: as for `Device`; nothing is executed.
unsafe impl Layer for Idle {
    fn below(&self) -> &dyn Driver {
        &*self.0
    }

    unsafe fn record_event(&self, _: RawEvent, _: RawStream) -> DriverResult<()> {
        Ok(())
    }

    unsafe fn wait_event(&self, _: RawStream, _: RawEvent) -> DriverResult<()> {
        Ok(())
    }

    unsafe fn query_event(&self, _: RawEvent) -> DriverResult<bool> {
        Ok(true)
    }

    unsafe fn fill(&self, _: RawStream, _: MemoryRange, _: u8) -> DriverResult<()> {
        Ok(())
    }

    unsafe fn launch(&self, _: RawStream, _: &Launch<'_>) -> DriverResult<()> {
        Ok(())
    }

    unsafe fn launch_host_function(&self, _: RawStream, it: HostFunction) -> DriverResult<()> {
        // SAFETY: the caller vouched for it; this is the one call.
        unsafe { (it.call)(it.data) };
        Ok(())
    }

    fn libraries(&self) -> &dyn Libraries {
        self
    }
}

// SAFETY: as for `Device`; nothing is executed.
unsafe impl Libraries for Idle {
    unsafe fn call_library(&self, _: RawStream, _: &LibraryCall<'_>) -> DriverResult<()> {
        Ok(())
    }
}
