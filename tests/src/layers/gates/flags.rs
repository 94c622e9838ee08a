//! The gates of one device: flags in page-locked memory, and the kernels that wait for them on the device.

use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use streamflow::driver::{Driver, RawStream};
use streamflow::platform::DeviceId;
use streamflow_driver::driver::Image;
use streamflow_driver::driver::{
    Code, DriverResult, HostFunction, KernelSource, Launch, MemoryRange, Param, RawFunction,
    StreamOptions,
};

use super::held::Gate;

/// After this time a gate opens by itself, and the control then fails. Otherwise a wait that the layer does not see would
/// hang.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);

/// How many streams of a device can have gates. A second constant says how many bytes of page-locked memory the programs
/// can use.
const FLAGS: usize = 4096;
const RESERVE: u64 = 1 << 20;

/// The byte that fills new page-locked and device memory. Elements of it are NaNs.
pub(super) const POISON: u8 = 0xFF;

/// A kernel that waits until the flag has reached the gate's number. If a gate has waited too long, the kernel sets
/// another flag that says so.
const PTX: &str = r"
.version 6.3
.target sm_75
.address_size 64

.visible .entry streamflow_gate(
    .param .u64 flag_address,
    .param .u64 late_address,
    .param .u64 patience,
    .param .u32 gate_number
)
{
    .reg .pred %p;
    .reg .b32 %number, %seen;
    .reg .b64 %flag, %late, %limit, %start, %now;

    ld.param.u64 %flag, [flag_address];
    ld.param.u64 %late, [late_address];
    ld.param.u64 %limit, [patience];
    ld.param.u32 %number, [gate_number];
    mov.u64 %start, %globaltimer;
WAIT:
    ld.acquire.sys.u32 %seen, [%flag];
    setp.ge.u32 %p, %seen, %number;
    @%p bra DONE;
    ld.acquire.sys.u32 %seen, [%late];
    setp.ne.u32 %p, %seen, 0;
    @%p bra DONE;
    nanosleep.u32 500;
    mov.u64 %now, %globaltimer;
    sub.u64 %now, %now, %start;
    setp.lt.u64 %p, %now, %limit;
    @%p bra WAIT;
    mov.u32 %seen, 1;
    st.release.sys.u32 [%late], %seen;
DONE:
    ret;
}
";

/// The flags of a device, and the memory that the layer lends to programs.
#[derive(Debug)]
pub(super) struct Flags {
    device: DeviceId,
    memory: MemoryRange,
    /// The kernel that waits for a flag, on a GPU.
    waits: Option<RawFunction>,
    /// A stream of the layer itself, for work that is not the program's. No gate is queued on it.
    own: RawStream,
    reserve: MemoryRange,
    reserved: AtomicUsize,
    /// Page-locked memory that programs have freed. It is really freed last, since freeing it waits for the device.
    freed: Mutex<Vec<MemoryRange>>,
}

/// The data of a gate on the simulator, which is a host function. The simulator executes work only in driver calls, so a
/// gate that is closed when its function is called has waited too long.
struct HostGate {
    flag: &'static AtomicU32,
    late: &'static AtomicU32,
    number: u32,
}

unsafe extern "C" fn wait_on_host(gate: *mut c_void) {
    // SAFETY: `queue` made the box for this one call.
    let gate = unsafe { Box::from_raw(gate.cast::<HostGate>()) };
    if gate.flag.load(Ordering::Acquire) < gate.number {
        gate.late.store(1, Ordering::Release);
    }
}

impl Flags {
    pub(super) fn new(below: &dyn Driver, device: DeviceId) -> DriverResult<Self> {
        below.bind(device)?;
        let memory = below.allocate_pinned(device, (FLAGS * size_of::<u32>()) as u64)?;
        let reserve = below.allocate_pinned(device, RESERVE)?;
        // SAFETY: flags and reserve were just allocated, and no work uses them.
        unsafe {
            std::ptr::write_bytes(at::<u8>(memory.address), 0, FLAGS * size_of::<u32>());
            std::ptr::write_bytes(at::<u8>(reserve.address), POISON, RESERVE as usize);
        }
        let own = below.create_stream(device, StreamOptions::default())?;
        let waits = below.observer().works_alone().then(|| load(below, device)).transpose()?;
        let reserved = AtomicUsize::new(0);
        let flags = Self { device, memory, waits, own, reserve, reserved, freed: Mutex::default() };
        // A first gate is queued at once: the first launch may load code, and CUDA then waits for running kernels.
        flags.queue(below, own, Gate { device, flag: 1, number: 0 })?;
        // SAFETY: the stream was made above.
        unsafe { below.synchronize_stream(own) }?;
        Ok(flags)
    }

    /// Returns the flag with this index. Flag 0 is set by gates that have waited too long.
    fn flag(&self, index: usize) -> &'static AtomicU32 {
        let address = self.memory.address + (index.min(FLAGS - 1) * size_of::<u32>()) as u64;
        // SAFETY: the address is within the memory. The memory is initialised, and freed last, after all work of the
        // device.
        unsafe { AtomicU32::from_ptr(at(address)) }
    }

    /// Queues a gate.
    pub(super) fn queue(&self, below: &dyn Driver, on: RawStream, gate: Gate) -> DriverResult<()> {
        let Some(function) = self.waits else {
            let (flag, late) = (self.flag(gate.flag), self.flag(0));
            let data = Box::into_raw(Box::new(HostGate { flag, late, number: gate.number })).cast();
            // SAFETY: the stream is the caller's, and the box lives until the function is called.
            return unsafe {
                below.launch_host_function(on, HostFunction { call: wait_on_host, data })
            };
        };
        let address = |index: usize| self.flag(index).as_ptr().expose_provenance() as u64;
        let params = [
            Param::new(address(gate.flag)),
            Param::new(address(0)),
            Param::new(PATIENCE.as_nanos() as u64),
            Param::new(gate.number),
        ];
        let launch = Launch {
            function,
            name: "streamflow_gate",
            grid: [1; 3],
            block: [1; 3],
            shared_bytes: 0,
            params: &params,
            accesses: &[],
            rows: &[],
        };
        below.bind(self.device)?;
        // SAFETY: the parameters are those of `PTX`, and the flags are freed after all work.
        unsafe { below.launch(on, &launch) }
    }

    /// Opens a gate, and all earlier gates of the same stream.
    pub(super) fn open(&self, gate: Gate) {
        self.flag(gate.flag).fetch_max(gate.number, Ordering::Release);
    }

    /// Whether a gate has opened by itself since the last call of [`reset`](Self::reset).
    pub(super) fn is_late(&self) -> bool {
        self.flag(0).load(Ordering::Acquire) != 0
    }

    pub(super) fn reset(&self) {
        self.flag(0).store(0, Ordering::Release);
    }

    /// Fills memory that no work uses yet with poison, and waits until that is done.
    pub(super) fn poison(&self, below: &dyn Driver, range: MemoryRange) -> DriverResult<()> {
        below.bind(self.device)?;
        // SAFETY: the caller has allocated the range, and the stream lives as long as `self`.
        unsafe {
            below.fill(self.own, range, POISON)?;
            below.synchronize_stream(self.own)
        }
    }

    /// Takes page-locked memory from the reserve, without a call of CUDA. Returns `None` if too little is left.
    pub(super) fn take(&self, bytes: u64) -> Option<MemoryRange> {
        let len = bytes.next_multiple_of(256) as usize;
        let start = self.reserved.fetch_add(len, Ordering::Relaxed) as u64;
        let fits = start + len as u64 <= RESERVE;
        fits.then(|| MemoryRange { address: self.reserve.address + start, bytes })
    }

    /// Takes back page-locked memory that a program frees. It is really freed last.
    pub(super) fn give_back(&self, range: MemoryRange) {
        let within = self.reserve.address..self.reserve.end();
        if !within.contains(&range.address) {
            self.freed.lock().unwrap_or_else(PoisonError::into_inner).push(range);
        }
    }

    /// Waits for all work of the device. The caller has opened all gates.
    pub(super) fn wait_for_device(&self, below: &dyn Driver) -> DriverResult<()> {
        below.bind(self.device)?;
        // SAFETY: the stream lives as long as `self`.
        unsafe {
            below.wait_for_device(self.own)?;
            below.synchronize_stream(self.own)
        }
    }

    /// Frees all memory of the layer. All work of the device is complete.
    pub(super) fn free(&self, below: &dyn Driver) -> DriverResult<()> {
        let freed = std::mem::take(&mut *self.freed.lock().unwrap_or_else(PoisonError::into_inner));
        // SAFETY: the caller has waited for all work, and has dropped the programs that had the memory.
        unsafe {
            for range in freed.into_iter().chain([self.reserve, self.memory]) {
                below.free_pinned(self.device, range)?;
            }
            below.destroy_stream(self.own)
        }
    }
}

/// Converts the address of page-locked memory to a pointer.
fn at<T>(address: u64) -> *mut T {
    std::ptr::with_exposed_provenance_mut(address as usize)
}

/// Loads the kernel that waits. It is loaded from a module, so that no tick with a gate is replayed.
fn load(below: &dyn Driver, device: DeviceId) -> DriverResult<RawFunction> {
    let name = "streamflow_gate";
    // SAFETY: the image is text.
    let module =
        unsafe { below.load_module(device, name, &Image(PTX.trim_start().as_bytes().to_vec())) }?;
    let source = KernelSource { name, entry: name, host: None, code: Code::Module(module) };
    // SAFETY: the module was just loaded.
    Ok(unsafe { below.load_kernel(device, &source) }?.function)
}

/// The compiled kernels that are loaded, by device, name and code. They stay loaded for the next run.
pub(super) type Loaded<T> = Mutex<HashMap<(DeviceId, String, Vec<u8>), T>>;
