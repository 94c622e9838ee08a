//! The objects that are alive, the call that fails, and the log.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::ffi::{CString, c_char, c_void};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use crate::allocations::Allocations;
use crate::device::{INVALID_VALUE, at};
use crate::graph::Work;
use crate::order::Orders;

/// CUDA_ERROR_OUT_OF_MEMORY.
const OUT_OF_MEMORY: i32 = 2;
const INVALID_CONTEXT: i32 = 201;
const INVALID_HANDLE: i32 = 400;
const CAPTURE_ISOLATION: i32 = 905;
/// How many devices there are.
pub(crate) const DEVICES: i32 = 2;
/// The context of device 0. The contexts of the other devices follow.
const CONTEXT: usize = 0x100;
const ALIGNMENT: usize = 256;

/// No allocation is larger.
const MEMORY: usize = 1 << 30;

/// The line of the log for a stream with work and with allocations or frees of memory.
const MEMORY_IN_ORDER: &str = "in-order";

thread_local! {
    /// The current context; 0 if there is none.
    static CURRENT: Cell<usize> = const { Cell::new(0) };
}

/// The call that fails.
struct Fault {
    function: String,
    nth: u64,
    code: i32,
    name: CString,
    /// Whether all later calls fail, too.
    is_lost: bool,
}

impl Fault {
    fn from_env() -> Option<Self> {
        let text = env::var("STREAMFLOW_FAKE_CUDA_FAULT").ok()?;
        let mut parts = text.split(' ');
        Some(Self {
            function: parts.next()?.to_owned(),
            nth: parts.next()?.parse().ok()?,
            code: parts.next()?.parse().ok()?,
            name: CString::new(parts.next()?).ok()?,
            is_lost: parts.next()? == "lost",
        })
    }
}

pub(crate) struct State {
    fault: Option<Fault>,
    /// The code that every call returns from now on.
    lost: Option<i32>,
    counts: BTreeMap<&'static str, u64>,
    /// By handle or address: the kind, and the size or the context.
    live: BTreeMap<u64, (&'static str, usize)>,
    next: u64,
    log: Option<File>,
    pub(crate) order: Orders,
    pub(crate) allocations: Allocations,
    /// The work of each graph, and of each executable one, with the number of its node.
    pub(crate) graphs: BTreeMap<u64, Vec<(u64, Work)>>,
    /// The graph that each executable one was instantiated from.
    pub(crate) templates: BTreeMap<u64, u64>,
    /// The work that was captured so far, of each stream that is being captured.
    pub(crate) captures: BTreeMap<u64, Vec<Work>>,
    /// The events with a captured latest record.
    captured_events: BTreeSet<u64>,
    /// The modules with the kernel that copies.
    copies: Vec<u64>,
}

pub(crate) fn state() -> MutexGuard<'static, State> {
    static STATE: OnceLock<Mutex<State>> = OnceLock::new();
    let make = || {
        let path = env::var_os("STREAMFLOW_FAKE_CUDA_LOG");
        let open = |path| OpenOptions::new().append(true).create(true).open(path).ok();
        Mutex::new(State {
            fault: Fault::from_env(),
            lost: None,
            counts: BTreeMap::new(),
            live: BTreeMap::new(),
            next: 0x1_0000,
            log: path.and_then(open),
            order: Orders::default(),
            allocations: Allocations::default(),
            graphs: BTreeMap::new(),
            templates: BTreeMap::new(),
            captures: BTreeMap::new(),
            captured_events: BTreeSet::new(),
            copies: Vec::new(),
        })
    };
    STATE.get_or_init(make).lock().unwrap_or_else(PoisonError::into_inner)
}

impl State {
    fn note(&mut self, line: &str) {
        if let Some(log) = &mut self.log {
            // A test that reads the log finds that a line is missing.
            let _written = log.write_all(format!("{line}\n").as_bytes());
        }
    }

    /// Begins a call.
    ///
    /// # Errors
    /// The code that it returns.
    pub(crate) fn begin(&mut self, function: &'static str) -> Result<(), i32> {
        self.note(&format!("call {function}"));
        if let Some(code) = self.lost {
            return Err(code);
        }
        let count = self.counts.entry(function).or_default();
        let nth = *count;
        *count += 1;
        match &self.fault {
            Some(fault) if fault.function == function && fault.nth == nth => {
                let code = fault.code;
                self.lost = fault.is_lost.then_some(code);
                self.note("fault");
                Err(code)
            }
            _ => Ok(()),
        }
    }

    /// The name of an error.
    pub(crate) fn name_of(&self, code: i32) -> *const c_char {
        match &self.fault {
            Some(fault) if fault.code == code => fault.name.as_ptr(),
            _ => c"CUDA_ERROR_OF_THE_FAKE".as_ptr(),
        }
    }

    /// Makes an object in the current context.
    pub(crate) fn make(&mut self, kind: &'static str) -> Result<u64, i32> {
        let context = current()?;
        self.next += 16;
        self.live.insert(self.next, (kind, context));
        self.note(&format!("+ {kind}"));
        Ok(self.next)
    }

    /// Gives an object back.
    pub(crate) fn give_back(&mut self, kind: &'static str, handle: u64) -> Result<(), i32> {
        self.check(kind, handle)?;
        self.live.remove(&handle);
        self.note(&format!("- {kind}"));
        Ok(())
    }

    /// Refuses a handle that is not alive.
    pub(crate) fn check(&mut self, kind: &'static str, handle: u64) -> Result<(), i32> {
        if self.live.get(&handle).is_some_and(|(known, _)| *known == kind) {
            return Ok(());
        }
        self.note(&format!("wrong: {handle:#x} is no {kind}"));
        Err(INVALID_HANDLE)
    }

    /// Refuses a stream that is not alive. The default streams of the current context are 0 and 1, and that of the thread
    /// is 2.
    pub(crate) fn find_stream(&mut self, stream: u64) -> Result<(), i32> {
        if stream <= 2 { current().map(drop) } else { self.check("stream", stream) }
    }

    /// Notes a call for a stream that is neither work nor an allocation. The call is refused if the stream is not
    /// alive.
    pub(crate) fn check_stream(&mut self, stream: u64) -> Result<(), i32> {
        self.find_stream(stream)?;
        self.allocations.call(stream);
        Ok(())
    }

    /// Notes work on a stream that uses this memory: a kernel, a copy or a fill.
    pub(crate) fn check_work(
        &mut self,
        stream: u64,
        memory: impl IntoIterator<Item = u64>,
    ) -> Result<(), i32> {
        self.find_stream(stream)?;
        if self.allocations.work(stream) {
            self.note(MEMORY_IN_ORDER);
        }
        memory.into_iter().for_each(|memory| self.mark_used(stream, memory));
        Ok(())
    }

    /// Keeps work for the graph, if its stream is being captured. Returns whether it does.
    pub(crate) fn captures(&mut self, stream: u64, work: impl FnOnce() -> Work) -> bool {
        let Some(captured) = self.captures.get_mut(&stream) else { return false };
        captured.push(work());
        true
    }

    pub(crate) fn capture_record(&mut self, event: u64, stream: u64) {
        if self.captures.contains_key(&stream) {
            self.captured_events.insert(event);
        } else {
            self.captured_events.remove(&event);
        }
    }

    /// Refuses a wait that leads into a capture, and one that draws a stream into a capture.
    pub(crate) fn check_captured_wait(&mut self, stream: u64, event: u64) -> Result<(), i32> {
        if self.captures.contains_key(&stream) == self.captured_events.contains(&event) {
            return Ok(());
        }
        self.note("wrong: a wait crosses the border of a capture");
        Err(CAPTURE_ISOLATION)
    }

    fn mark_used(&mut self, stream: u64, memory: u64) {
        if !self.allocations.may_use(stream, memory) {
            self.note(&format!("wrong: {memory:#x} is used before its allocation"));
        }
    }

    /// Notes a query of a stream or an event. A thread must not query while it captures: the query ends the capture.
    pub(crate) fn check_no_capture(&mut self) -> Result<(), i32> {
        const STREAM_CAPTURE_UNSUPPORTED: i32 = 900;
        if self.captures.is_empty() {
            return Ok(());
        }
        self.note("wrong: a question while a stream is captured");
        Err(STREAM_CAPTURE_UNSUPPORTED)
    }

    /// Allocates in the order of a stream.
    pub(crate) fn allocate_on(&mut self, stream: u64, bytes: usize) -> Result<u64, i32> {
        self.find_stream(stream)?;
        // As an H200 does.
        if bytes == 0 {
            return Ok(0);
        }
        let address = self.allocate("device memory", bytes)?;
        self.allocations.allocate(stream, address, bytes as u64);
        self.mark_memory(stream);
        Ok(address)
    }

    /// Frees in the order of a stream.
    pub(crate) fn free_on(&mut self, stream: u64, address: u64) -> Result<(), i32> {
        self.check_stream(stream)?;
        if address == 0 {
            return Ok(());
        }
        if self.captures.contains_key(&stream) {
            self.note("wrong: memory from outside of a graph is freed in its capture");
            return Err(INVALID_VALUE);
        }
        self.mark_used(stream, address);
        self.free("device memory", address)?;
        self.mark_memory(stream);
        Ok(())
    }

    fn mark_memory(&mut self, stream: u64) {
        if self.allocations.changes(stream) {
            self.note(MEMORY_IN_ORDER);
        }
    }

    /// Returns the context that a stream was made in.
    pub(crate) fn context_of_stream(&mut self, stream: u64) -> Result<usize, i32> {
        self.check("stream", stream)?;
        Ok(self.live.get(&stream).map_or(0, |(_, context)| *context))
    }

    pub(crate) fn allocate(&mut self, kind: &'static str, bytes: usize) -> Result<u64, i32> {
        current()?;
        if bytes > MEMORY {
            return Err(OUT_OF_MEMORY);
        }
        let layout = Layout::from_size_align(bytes.max(1), ALIGNMENT).map_err(|_| INVALID_VALUE)?;
        // SAFETY: the layout has at least one byte.
        let address = unsafe { alloc_zeroed(layout) }.expose_provenance() as u64;
        if address == 0 {
            return Err(OUT_OF_MEMORY);
        }
        self.live.insert(address, (kind, bytes));
        self.note(&format!("+ {kind}"));
        Ok(address)
    }

    pub(crate) fn free(&mut self, kind: &'static str, address: u64) -> Result<(), i32> {
        let bytes = self.live.get(&address).map_or(0, |(_, bytes)| *bytes);
        self.give_back(kind, address)?;
        self.allocations.free(address);
        let layout = Layout::from_size_align(bytes.max(1), ALIGNMENT).map_err(|_| INVALID_VALUE)?;
        // SAFETY: `allocate` gave this address, for the same layout, and it was alive until now.
        unsafe { dealloc(at(address), layout) };
        Ok(())
    }

    /// Notes that the kernel of a module copies.
    pub(crate) fn count_copy(&mut self, module: u64) {
        self.copies.push(module);
    }

    pub(crate) fn is_copy(&self, module: u64) -> bool {
        self.copies.contains(&module)
    }

    /// Adds a node to a graph. The nodes that it comes after must already be in the graph, so the order of adding nodes
    /// is one that the edges permit.
    pub(crate) unsafe fn add_node(
        &mut self,
        graph: u64,
        after: *const u64,
        count: usize,
        work: Work,
    ) -> Result<u64, i32> {
        current()?;
        self.check("graph", graph)?;
        self.next += 16;
        let node = self.next;
        let nodes = self.graphs.entry(graph).or_default();
        for index in 0..count {
            // SAFETY: the caller passes `count` handles.
            let before = unsafe { *after.add(index) };
            if !nodes.iter().any(|(known, _)| *known == before) {
                return Err(INVALID_VALUE);
            }
        }
        nodes.push((node, work));
        Ok(node)
    }

    /// Gives a kernel of an executable graph other parameters.
    pub(crate) fn set_node(&mut self, exec: u64, node: u64, work: Work) -> Result<(), i32> {
        current()?;
        let nodes = self.graphs.entry(exec).or_default();
        let found = nodes.iter_mut().find(|(known, _)| *known == node).ok_or(INVALID_VALUE)?;
        if std::mem::discriminant(&found.1) != std::mem::discriminant(&work) {
            return Err(INVALID_VALUE);
        }
        found.1 = work;
        Ok(())
    }

    pub(crate) fn add_context(&mut self) {
        self.count_made("context");
    }

    pub(crate) fn count_made(&mut self, kind: &str) {
        self.note(&format!("+ {kind}"));
    }

    pub(crate) fn retire_graphs_of(&mut self, kind: &str) {
        self.note(&format!("- {kind}"));
    }
}

/// The context of a device.
pub(crate) fn context_of(device: i32) -> usize {
    CONTEXT + device as usize
}

/// A context of a device that is not its primary one.
pub(crate) fn other_context_of(device: i32) -> usize {
    context_of(DEVICES + device)
}

/// The current context of the calling thread.
///
/// # Errors
/// `CUDA_ERROR_INVALID_CONTEXT` if there is none.
pub(crate) fn current() -> Result<usize, i32> {
    match CURRENT.get() {
        0 => Err(INVALID_CONTEXT),
        context => Ok(context),
    }
}

pub(crate) fn set_current(context: usize) {
    CURRENT.set(context);
}

/// A handle as the number that this library knows.
pub(crate) fn number(handle: *const c_void) -> u64 {
    handle.expose_provenance() as u64
}
