//! A driver for models that knows the truth about work and memory: the real order of the work, the memory that is
//! allocated, and the work that the device has executed.

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

/// A set of work, as one count per stream: the first so many pieces of that stream's work. Used for the work that
/// precedes something.
pub(crate) type Before = [u64; STREAMS];

/// A device with its driver and host. Each stream and each event has its own lock, so the calls for one stream take
/// effect one after the other. No lock is shared by several streams: that would create more happens-before edges than a
/// driver promises.
pub(crate) struct Device {
    /// For each stream, the work that precedes the next work queued on the stream.
    queues: [Mutex<Before>; STREAMS],
    /// For each event, the work that precedes its latest record; `None` if the event was never recorded.
    events: [Mutex<Option<Before>>; EVENTS],
    handles: Observed<Handles>,
    memory: Observed<Memory>,
    /// For each thread, the work that the thread has found complete.
    hosts: Plain<Vec<(ThreadId, Before)>>,
    /// The work that the device has executed.
    done: Plain<Before>,
    /// Whether the driver accepts notes (reports of the runtime to a layer).
    watches: bool,
    settings: Plain<Settings>,
    functions: Plain<Vec<(Before, HostFunction)>>,
    wrong: Plain<Vec<&'static str>>,
}

// SAFETY: the caller that queues a host function vouches that its data may be sent. All other fields are `Send` and `Sync`.
unsafe impl Send for Device {}
// SAFETY: the caller that queues a host function vouches that its data may be sent. All other fields are `Send` and
// `Sync`.
unsafe impl Sync for Device {}

/// The numbers of the streams and events that exist. The handle of a destroyed event is reused by the next event.
#[derive(Default)]
struct Handles {
    streams: usize,
    events: usize,
    free_events: Vec<usize>,
}

/// The settings of a model.
#[derive(Default)]
struct Settings {
    /// The name of the driver call that fails once.
    refused: Option<&'static str>,
    /// Whether the device executes nothing. Queries are answered with "not complete".
    is_busy: bool,
    /// How many bytes the device can allocate, if the model checks that limit.
    capacity: Option<u64>,
    /// The handles of streams that belong to the program. The library must not free memory on them.
    of_users: Vec<u64>,
    /// Whether the device executes work only during driver calls, as the simulator does.
    waits_for_calls: bool,
    /// The thread that is inside a deleter, where it must not call the driver.
    in_deleter: Option<ThreadId>,
}

/// Bytes of page-locked memory, aligned as a driver promises.
#[derive(Clone, Copy)]
#[repr(align(256))]
struct Aligned(#[allow(dead_code, reason = "it is read by its address")] [u8; 256]);

#[derive(Default)]
struct Memory {
    blocks: Vec<Block>,
    /// The ranges that were freed. An allocation reuses the latest range that has exactly its length.
    free: Vec<MemoryRange>,
    next: u64,
}

struct Block {
    range: MemoryRange,
    uses: Vec<(MemoryRange, AccessMode, usize, u64)>,
    /// The stream on which the block was freed, and the number of the free on that stream.
    freed: Option<(usize, u64)>,
    /// The bytes of the block, if it is page-locked host memory.
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

    // ---- functions that models call ----

    /// Makes the driver fail its next call with this name.
    pub(crate) fn refuse(&self, call: &'static str) {
        plain(&self.settings).refused = Some(call);
    }

    pub(crate) fn set_busy(&self, is_busy: bool) {
        plain(&self.settings).is_busy = is_busy;
    }

    pub(crate) fn set_capacity(&self, bytes: u64) {
        plain(&self.settings).capacity = Some(bytes);
    }

    /// Makes the device execute work only during driver calls.
    pub(crate) fn set_waits_for_calls(&self) {
        plain(&self.settings).waits_for_calls = true;
    }

    /// Calls `deleter`, a function of streamflow that other code may call while it holds any lock. The function must not
    /// block, and must not call the driver.
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

    /// Notes that other code gets its own memory back. Reports a mistake if the device has not finished all work on the
    /// memory.
    pub(crate) fn given_back(&self, range: MemoryRange) {
        let (done, memory) = (*plain(&self.done), plain(&self.memory.value));
        let of_memory = |block: &&Block| block.range == range && block.host.is_none();
        let mut uses = memory.blocks.iter().filter(of_memory).flat_map(|block| &block.uses);
        if uses.any(|(.., of, work)| done[*of] < *work) {
            self.report("memory goes back while the device uses it");
        }
    }

    /// Declares streams of the program: from now on, freeing memory on them is reported as a mistake.
    pub(crate) fn set_of_users(&self, streams: [RawStream; 2]) {
        plain(&self.settings).of_users = streams.map(RawStream::handle).into();
    }

    /// Returns the mistakes found so far.
    pub(crate) fn wrong(&self) -> Vec<&'static str> {
        plain(&self.wrong).clone()
    }

    /// Panics if a mistake was reported.
    pub(crate) fn check(&self) {
        let wrong = self.wrong();
        assert!(wrong.is_empty(), "{}", wrong[0]);
    }

    /// Returns how many pieces of a stream's work the device has executed.
    pub(crate) fn done(&self, stream: RawStream) -> u64 {
        plain(&self.done)[slot(stream)]
    }

    /// Returns how much memory is allocated: the number of blocks and of bytes.
    pub(crate) fn allocated(&self) -> (usize, u64) {
        let memory = self.memory.get();
        let live = memory.blocks.iter().filter(|block| block.freed.is_none());
        live.fold((0, 0), |(blocks, bytes), block| (blocks + 1, bytes + block.range.bytes))
    }

    /// Queues work that touches no memory. Returns the number of the work on its stream.
    pub(crate) fn work(&self, stream: RawStream) -> u64 {
        self.queue(stream)[slot(stream)]
    }

    /// Calls all queued host functions, after the device has executed the work queued before them.
    pub(crate) fn call_host_functions(&self) {
        let functions = std::mem::take(&mut *plain(&self.functions));
        for (before, HostFunction { call, data }) in functions {
            merge(&mut plain(&self.done), &before);
            self.mark_complete(&before);
            // SAFETY: whoever queued the function vouched for its data, and the function is called only once.
            unsafe { call(data) };
        }
    }

    // ---- the real order ----

    fn report(&self, what: &'static str) {
        plain(&self.wrong).push(what);
    }

    /// Checks two rules at the beginning of every driver call: no lock of the memory modules is held, and the thread is
    /// not in a deleter.
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

    /// Queues a piece of work on a stream. Returns all work that must be complete when the new work is, including the new
    /// work.
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

    /// Makes the device execute the work in `before`, and no other. The calling thread then knows that this work is
    /// complete.
    fn complete(&self, before: &Before) {
        merge(&mut plain(&self.done), before);
        self.mark_complete(before);
    }

    /// Adds an access to its block. Reports each earlier access that conflicts with the new one and is not ordered before
    /// it.
    fn access(&self, stream: usize, before: &Before, range: MemoryRange, mode: AccessMode) {
        // Work that the device has already executed precedes the access, even if this thread does not know that the work
        // is complete.
        let mut before = *before;
        merge(&mut before, &plain(&self.done));
        // This lock orders no threads of the model. None is needed: whether two accesses are ordered does not depend on
        // which one is added first.
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

    /// Frees memory. The free itself comes after the work in `before`.
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

// SAFETY: models read and write only page-locked memory, and that memory is real. `Device` itself checks every other
// promise of a driver.
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

/// A layer above `Device` that skips the frequent calls: it only calls host functions. Only the code above the layer does
/// any work.
#[derive(Debug)]
pub(crate) struct Idle(pub(crate) Arc<Device>);

// SAFETY: `Device` is a driver as promised, and the calls that this layer answers itself execute nothing.
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
        // SAFETY: the caller of `launch_host_function` vouched for the function and its data, and the function is called
        // only once.
        unsafe { (it.call)(it.data) };
        Ok(())
    }

    fn libraries(&self) -> &dyn Libraries {
        self
    }
}

// SAFETY: no library function is called.
unsafe impl Libraries for Idle {
    unsafe fn call_library(&self, _: RawStream, _: &LibraryCall<'_>) -> DriverResult<()> {
        Ok(())
    }
}
