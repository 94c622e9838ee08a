//! The functions, with the declarations of `cuda.h`. Enums are integers, and handles are pointers.
#![allow(non_snake_case, reason = "CUDA's names")]

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::ptr;

use crate::device::{INVALID_VALUE, add, at};
use crate::graph::{Copy3D, Fill, KernelNode, Work};
use crate::held::wait_while_held;
use crate::order::Order;
use crate::state::{DEVICES, context_of, current, number, other_context_of, set_current, state};

type Handle = *mut c_void;

/// A place for a result.
type To<T> = *mut T;

/// `CUdevResource`: of multiprocessors.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Resource {
    kind: c_int,
    padding: [u8; 92],
    multiprocessors: c_uint,
    rest: [u32; 11],
}

/// `CUDA_MEMCPY2D`.
#[repr(C)]
pub(crate) struct Copy2D {
    source: Side,
    target: Side,
    width: usize,
    height: usize,
}

/// A side of the copy. `kind` says whether its host memory or its device memory counts.
#[repr(C)]
struct Side {
    x: usize,
    y: usize,
    kind: c_uint,
    host: Handle,
    device: u64,
    array: Handle,
    pitch: usize,
}

impl Side {
    /// Returns the address of the side's first byte.
    fn memory(&self) -> Result<*mut u8, c_int> {
        let Self { x: 0, y: 0, array, .. } = self else { return Err(INVALID_VALUE) };
        match self.kind {
            1 if array.is_null() => Ok(self.host.cast()),
            2 if array.is_null() => Ok(at(self.device)),
            _ => Err(INVALID_VALUE),
        }
    }
}

const MULTIPROCESSORS: c_uint = 64;
const INVALID_DEVICE: c_int = 101;
const NOT_FOUND: c_int = 500;
const INVALID_RESOURCE_CONFIGURATION: c_int = 915;
/// `CU_DEV_RESOURCE_TYPE_SM`.
const OF_MULTIPROCESSORS: c_int = 1;
/// Multiprocessors are divided in groups of this many.
const GROUP: c_uint = 8;

/// Defines exported functions. A body is evaluated if the call does not fail; its error is the code that is returned.
macro_rules! exports {
    ($(fn $name:ident($($arg:ident: $ty:ty),* $(,)?) $body:block)*) => {
        $(
            #[unsafe(no_mangle)]
            unsafe extern "C" fn $name($($arg: $ty),*) -> c_int {
                if let Err(code) = state().begin(stringify!($name)) {
                    return code;
                }
                #[allow(unused_unsafe, reason = "some bodies write nothing")]
                let done = move || -> Result<(), c_int> {
                    // SAFETY: the caller passes what CUDA's documentation of this function requires: places for the
                    // results, and addresses of memory that is alive.
                    unsafe { $body };
                    Ok(())
                };
                done().err().unwrap_or(0)
            }
        )*
    };
}

fn check_device(device: c_int) -> Result<(), c_int> {
    if (0..DEVICES).contains(&device) { Ok(()) } else { Err(INVALID_DEVICE) }
}

exports! {
    fn cuInit(_flags: c_uint) {}
    fn cuDriverGetVersion(version: To<c_int>) { *version = 13_000; }
    fn cuDeviceGetCount(count: To<c_int>) { *count = DEVICES; }
    fn cuDeviceGet(device: To<c_int>, ordinal: c_int) {
        check_device(ordinal)?;
        *device = ordinal;
    }
    fn cuDeviceGetName(name: *mut c_char, _length: c_int, device: c_int) {
        check_device(device)?;
        ptr::copy_nonoverlapping(c"fake".as_ptr(), name, 5);
    }
    fn cuDeviceTotalMem_v2(bytes: To<usize>, device: c_int) {
        check_device(device)?;
        *bytes = 1 << 30;
    }
    fn cuDeviceGetAttribute(value: To<c_int>, attribute: c_int, device: c_int) {
        check_device(device)?;
        *value = match attribute {
            16 => MULTIPROCESSORS as c_int,
            75 => 9,
            97 => 200 << 10,
            115 => 1,
            _ => 0,
        };
    }
    fn cuDevicePrimaryCtxRetain(context: To<usize>, device: c_int) {
        check_device(device)?;
        state().add_context();
        *context = context_of(device);
    }
    fn cuCtxCreate_v4(context: To<usize>, _params: *const c_void, _flags: c_uint, device: c_int) {
        check_device(device)?;
        state().count_made("other context");
        *context = other_context_of(device);
        set_current(*context);
    }
    fn cuCtxDestroy_v2(_context: usize) {
        state().retire_graphs_of("other context");
        set_current(0);
    }
    fn cuDevicePrimaryCtxRelease_v2(device: c_int) { check_device(device)?; }
    fn cuCtxGetCurrent(context: To<usize>) { *context = current().unwrap_or(0); }
    fn cuCtxSetCurrent(context: usize) { set_current(context); }
    fn cuCtxSynchronize() {
        current()?;
        let mut state = state();
        state.allocations.host_waits_for_all();
        state.order.add(Order::HostWaitsForDevice);
    }
    fn cuCtxRecordEvent(_context: usize, event: Handle) {
        let mut state = state();
        state.check("event", number(event))?;
        state.allocations.record_all(number(event));
        state.order.add(Order::RecordsDevice { event: number(event) });
    }
    fn cuCtxGetStreamPriorityRange(least: To<c_int>, greatest: To<c_int>) {
        current()?;
        (*least, *greatest) = (0, -5);
    }

    fn cuStreamCreateWithPriority(stream: To<u64>, _flags: c_uint, _priority: c_int) {
        *stream = state().make("stream")?;
    }
    fn cuStreamCreate(stream: To<u64>, _flags: c_uint) { *stream = state().make("stream")?; }
    fn cuStreamDestroy_v2(stream: Handle) {
        let mut state = state();
        state.give_back("stream", number(stream))?;
        // A capture ends with its stream.
        state.captures.remove(&number(stream));
    }
    fn cuStreamGetCtx_v2(stream: Handle, context: To<usize>, green: To<usize>) {
        *context = state().context_of_stream(number(stream))?;
        *green = 0;
    }
    fn cuStreamQuery(stream: Handle) {
        let mut state = state();
        state.find_stream(number(stream))?;
        state.check_no_capture()?;
        state.order.add(Order::HostAsks { stream: number(stream) });
        state.order.check_complete()?;
        state.allocations.host_waits(number(stream));
    }
    fn cuStreamSynchronize(stream: Handle) {
        let mut state = state();
        state.find_stream(number(stream))?;
        // Nothing holds allocations, and a wait for them orders no work.
        if state.allocations.host_waits(number(stream)) {
            state.order.add(Order::HostWaits { stream_or_event: number(stream) });
            drop(state);
            wait_while_held();
        }
    }
    fn cuStreamWaitEvent(stream: Handle, event: Handle, _flags: c_uint) {
        let mut state = state();
        state.check_stream(number(stream))?;
        state.check("event", number(event))?;
        state.check_captured_wait(number(stream), number(event))?;
        state.allocations.wait(number(stream), number(event));
        state.order.add(Order::Waits { stream: number(stream), event: number(event) });
    }
    fn cuEventCreate(event: To<u64>, _flags: c_uint) { *event = state().make("event")?; }
    fn cuEventDestroy_v2(event: Handle) { state().give_back("event", number(event))?; }
    fn cuEventRecord(event: Handle, stream: Handle) {
        let mut state = state();
        state.check_stream(number(stream))?;
        state.check("event", number(event))?;
        state.capture_record(number(event), number(stream));
        state.allocations.record(number(event), number(stream));
        state.order.add(Order::Records { event: number(event), stream: number(stream) });
    }
    fn cuEventQuery(event: Handle) {
        let mut state = state();
        state.check("event", number(event))?;
        state.check_no_capture()?;
        state.order.check_complete()?;
        state.allocations.host_waits_for_event(number(event));
    }
    fn cuEventSynchronize(event: Handle) {
        let mut state = state();
        state.check("event", number(event))?;
        state.allocations.host_waits_for_event(number(event));
        state.order.add(Order::HostWaits { stream_or_event: number(event) });
        drop(state);
        wait_while_held();
    }
    fn cuEventElapsedTime_v2(milliseconds: To<f32>, start: Handle, end: Handle) {
        let mut state = state();
        state.check("event", number(start))?;
        state.check("event", number(end))?;
        *milliseconds = 1.0;
    }

    fn cuMemPoolCreate(pool: To<u64>, _properties: *const c_void) {
        *pool = state().make("memory pool")?;
    }
    fn cuMemPoolDestroy(pool: Handle) { state().give_back("memory pool", number(pool))?; }
    fn cuMemPoolSetAttribute(pool: Handle, _attribute: c_int, _value: *mut c_void) {
        state().check("memory pool", number(pool))?;
    }
    fn cuMemPoolSetAccess(pool: Handle, _access: *const c_void, _count: usize) {
        state().check("memory pool", number(pool))?;
    }
    fn cuMemPoolTrimTo(pool: Handle, _keep: usize) { state().check("memory pool", number(pool))?; }
    fn cuMemAllocFromPoolAsync(address: To<u64>, bytes: usize, pool: Handle, stream: Handle) {
        let mut state = state();
        state.check("memory pool", number(pool))?;
        *address = state.allocate_on(number(stream), bytes)?;
    }
    fn cuMemAllocAsync(address: To<u64>, bytes: usize, stream: Handle) {
        *address = state().allocate_on(number(stream), bytes)?;
    }
    fn cuMemFreeAsync(address: u64, stream: Handle) {
        state().free_on(number(stream), address)?;
    }
    fn cuMemHostAlloc(address: To<u64>, bytes: usize, _flags: c_uint) {
        *address = state().allocate("page-locked memory", bytes)?;
    }
    fn cuMemFreeHost(address: Handle) { state().free("page-locked memory", number(address))?; }
    fn cuMemcpyHtoDAsync_v2(target: u64, source: *const u8, bytes: usize, stream: Handle) {
        state().check_work(number(stream), [target])?;
        ptr::copy(source, at::<u8>(target), bytes);
    }
    fn cuMemcpyDtoHAsync_v2(target: *mut u8, source: u64, bytes: usize, stream: Handle) {
        state().check_work(number(stream), [source])?;
        ptr::copy(at::<u8>(source), target, bytes);
    }
    fn cuMemcpyDtoDAsync_v2(target: u64, source: u64, bytes: usize, stream: Handle) {
        state().check_work(number(stream), [source, target])?;
        ptr::copy(at::<u8>(source), at::<u8>(target), bytes);
    }
    fn cuMemcpyPeerAsync(
        target: u64, to: usize, source: u64, from: usize, bytes: usize, stream: Handle,
    ) {
        state().check_work(number(stream), [source, target])?;
        check_device(to as c_int - context_of(0) as c_int)?;
        check_device(from as c_int - context_of(0) as c_int)?;
        ptr::copy(at::<u8>(source), at::<u8>(target), bytes);
    }
    fn cuMemcpy2DAsync_v2(copy: *const Copy2D, stream: Handle) {
        let Copy2D { source, target, width, height } = &*copy;
        let sides = [source.memory()?, target.memory()?];
        state().check_work(number(stream), sides.map(|side| number(side.cast())))?;
        if width > &source.pitch || width > &target.pitch {
            return Err(INVALID_VALUE);
        }
        let [from, to] = sides;
        for row in 0..*height {
            ptr::copy(from.add(row * source.pitch), to.add(row * target.pitch), *width);
        }
    }
    fn cuMemsetD8Async(target: u64, byte: u8, bytes: usize, stream: Handle) {
        let mut state = state();
        if state.captures(number(stream), || Work::fill(target, byte, bytes)) {
            return Ok(());
        }
        state.check_work(number(stream), [target])?;
        ptr::write_bytes(at::<u8>(target), byte, bytes);
    }
    fn cuDeviceCanAccessPeer(can: To<c_int>, device: c_int, peer: c_int) {
        check_device(device)?;
        check_device(peer)?;
        *can = 1;
    }

    fn cuModuleLoadDataEx(
        module: To<u64>, _image: *const c_void, _count: c_uint, _options: *mut c_int,
        _values: *mut *mut c_void,
    ) {
        *module = state().make("module")?;
    }
    fn cuModuleUnload(module: Handle) { state().give_back("module", number(module))?; }
    // A function's handle is that of its module. A module has one kernel: `add`, or the library's own copy.
    fn cuModuleGetFunction(function: To<u64>, module: Handle, name: *const c_char) {
        state().check("module", number(module))?;
        let name = CStr::from_ptr(name);
        if name != c"add" && name != c"streamflow_copy" {
            return Err(NOT_FOUND);
        }
        if name == c"streamflow_copy" {
            state().count_copy(number(module));
        }
        *function = number(module);
    }
    fn cuFuncGetAttribute(value: To<c_int>, attribute: c_int, function: Handle) {
        state().check("module", number(function))?;
        *value = match attribute {
            0 => 1024,
            8 => 48 << 10,
            _ => 0,
        };
    }
    fn cuFuncSetAttribute(function: Handle, _attribute: c_int, _value: c_int) {
        state().check("module", number(function))?;
    }
    fn cuOccupancyMaxPotentialBlockSize(
        grid: To<c_int>, block: To<c_int>, function: Handle, _shared_of: *const c_void,
        _shared: usize, _limit: c_int,
    ) {
        state().check("module", number(function))?;
        (*grid, *block) = (1, 256);
    }
    fn cuLaunchKernel(
        function: Handle, _gx: c_uint, _gy: c_uint, _gz: c_uint, _bx: c_uint, _by: c_uint, _bz: c_uint,
        _shared: c_uint, stream: Handle, params: *mut *mut c_void, _extra: *mut *mut c_void,
    ) {
        let mut state = state();
        state.check_work(number(stream), [*(*params).cast::<u64>()])?;
        state.check("module", number(function))?;
        add(params);
    }
    fn cuGraphCreate(graph: To<u64>, _flags: c_uint) {
        let mut state = state();
        *graph = state.make("graph")?;
        state.graphs.insert(*graph, Vec::new());
    }
    fn cuGraphDestroy(graph: Handle) {
        let mut state = state();
        state.give_back("graph", number(graph))?;
        state.graphs.remove(&number(graph));
    }
    fn cuGraphAddKernelNode_v2(
        node: To<u64>, graph: Handle, after: *const u64, count: usize, params: *const KernelNode,
    ) {
        let mut state = state();
        state.check("module", number((*params).function))?;
        let kept = Work::kernel((*params).params, state.is_copy(number((*params).function)));
        *node = state.add_node(number(graph), after, count, kept)?;
    }
    fn cuGraphAddMemcpyNode(
        node: To<u64>, graph: Handle, after: *const u64, count: usize, copy: *const Copy3D, _context: usize,
    ) {
        *node = state().add_node(number(graph), after, count, (*copy).work()?)?;
    }
    fn cuGraphAddMemsetNode(
        node: To<u64>, graph: Handle, after: *const u64, count: usize, fill: *const Fill, _context: usize,
    ) {
        *node = state().add_node(number(graph), after, count, Work::Fill(*fill))?;
    }
    fn cuGraphAddChildGraphNode(
        node: To<u64>, graph: Handle, after: *const u64, count: usize, child: Handle,
    ) {
        let mut state = state();
        state.check("graph", number(child))?;
        let work = state.graphs.get(&number(child)).cloned().unwrap_or_default();
        let work = Work::Graph(work.into_iter().map(|(_, work)| work).collect());
        *node = state.add_node(number(graph), after, count, work)?;
    }
    fn cuGraphGetNodes(graph: Handle, nodes: *const c_void, count: To<usize>) {
        let mut state = state();
        state.check("graph", number(graph))?;
        if !nodes.is_null() {
            return Err(INVALID_VALUE);
        }
        *count = state.graphs.get(&number(graph)).map_or(0, Vec::len);
    }
    // Of the thread: the mode has the number 1.
    fn cuStreamBeginCapture_v2(stream: Handle, mode: c_int) {
        let mut state = state();
        state.check("stream", number(stream))?;
        if mode != 1 || state.captures.insert(number(stream), Vec::new()).is_some() {
            return Err(INVALID_VALUE);
        }
    }
    fn cuStreamIsCapturing(stream: Handle, status: To<c_int>) {
        let mut state = state();
        state.find_stream(number(stream))?;
        *status = c_int::from(state.captures.contains_key(&number(stream)));
    }
    fn cuStreamEndCapture(stream: Handle, graph: To<u64>) {
        let mut state = state();
        let work = state.captures.remove(&number(stream)).ok_or(INVALID_VALUE)?;
        *graph = state.make("graph")?;
        let work = work.into_iter().zip(1..).map(|(work, node)| (node, work)).collect();
        state.graphs.insert(*graph, work);
    }
    fn cuGraphInstantiateWithFlags(exec: To<u64>, graph: Handle, _flags: u64) {
        let mut state = state();
        state.check("graph", number(graph))?;
        *exec = state.make("executable graph")?;
        let work = state.graphs.get(&number(graph)).cloned().unwrap_or_default();
        state.graphs.insert(*exec, work);
        state.templates.insert(*exec, number(graph));
    }
    fn cuGraphExecKernelNodeSetParams_v2(exec: Handle, node: Handle, params: *const KernelNode) {
        let mut state = state();
        state.check("executable graph", number(exec))?;
        state.check("module", number((*params).function))?;
        // The node belongs to the graph that the executable was instantiated from, and that graph still lives.
        let template = state.templates.get(&number(exec)).copied().unwrap_or_default();
        state.check("graph", template)?;
        let set = Work::kernel((*params).params, state.is_copy(number((*params).function)));
        state.set_node(number(exec), number(node), set)?;
    }
    fn cuGraphExecDestroy(exec: Handle) {
        let mut state = state();
        state.give_back("executable graph", number(exec))?;
        state.graphs.remove(&number(exec));
        state.templates.remove(&number(exec));
    }
    fn cuGraphLaunch(exec: Handle, stream: Handle) {
        let mut state = state();
        state.check("executable graph", number(exec))?;
        let work = state.graphs.get(&number(exec)).cloned().unwrap_or_default();
        state.check_work(number(stream), work.iter().flat_map(|(_, work)| work.memory()))?;
        work.iter().for_each(|(_, work)| work.run());
    }
    fn cuLaunchHostFunc(
        stream: Handle, function: Option<unsafe extern "C" fn(*mut c_void)>, data: *mut c_void,
    ) {
        // The lock is free again when the function is called.
        state().check_stream(number(stream))?;
        function.ok_or(INVALID_VALUE)?(data);
    }

    fn cuDeviceGetDevResource(device: c_int, resource: To<Resource>, kind: c_int) {
        check_device(device)?;
        (*resource).kind = kind;
        (*resource).multiprocessors = MULTIPROCESSORS;
    }
    fn cuDevSmResourceSplitByCount(
        part: To<Resource>, groups: To<c_uint>, from: *const Resource, rest: To<Resource>, _flags: c_uint,
        least: c_uint,
    ) {
        let (all, size) = ((*from).multiprocessors, least.next_multiple_of(GROUP));
        if size > all {
            return Err(INVALID_RESOURCE_CONFIGURATION);
        }
        (*part, *rest, *groups) = (*from, *from, 1);
        (*part).multiprocessors = size;
        (*rest).multiprocessors = all - size;
        (*rest).kind = if all > size { OF_MULTIPROCESSORS } else { 0 };
    }
    fn cuDevResourceGenerateDesc(description: To<u64>, resources: *const Resource, _count: c_uint) {
        *description = u64::from((*resources).multiprocessors);
    }
    fn cuGreenCtxCreate(green: To<u64>, _description: Handle, device: c_int, _flags: c_uint) {
        check_device(device)?;
        *green = state().make("green context")?;
    }
    fn cuGreenCtxDestroy(green: Handle) { state().give_back("green context", number(green))?; }
    fn cuGreenCtxGetDevResource(green: Handle, resource: To<Resource>, kind: c_int) {
        state().check("green context", number(green))?;
        (*resource).kind = kind;
        (*resource).multiprocessors = MULTIPROCESSORS - GROUP;
    }
    fn cuGreenCtxStreamCreate(stream: To<u64>, green: Handle, _flags: c_uint, _priority: c_int) {
        let mut state = state();
        state.check("green context", number(green))?;
        *stream = state.make("stream")?;
    }
}

/// The two functions about errors answer also after a sticky error.
#[unsafe(no_mangle)]
unsafe extern "C" fn cuGetErrorName(code: c_int, name: To<*const c_char>) -> c_int {
    // SAFETY: the caller passes a place for one pointer. The text lives as long as the process.
    unsafe { *name = state().name_of(code) };
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuGetErrorString(_code: c_int, text: To<*const c_char>) -> c_int {
    // SAFETY: as above.
    unsafe { *text = c"injected by a test".as_ptr() };
    0
}
