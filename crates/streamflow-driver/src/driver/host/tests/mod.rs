//! Tests of the simulator's rules. Each is shown by the data that a program computes.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::undocumented_unsafe_blocks,
    reason = "a test may panic; its memory is allocated for the whole test, so each driver call keeps \
              its contract or breaks only the order that is tested"
)]

mod body;
mod chosen;
mod contexts;
mod description;
mod failure;
mod green;
mod host_functions;
mod memory;
mod order;
mod running_bodies;
mod schedule;
mod variants;

use super::*;
use crate::driver::{
    Access, AccessMode, Code, CopyKind, HostArgs, HostKernel, MAX_PARAMS, MemorySource, Param,
};

/// The number of words of a test buffer.
const LEN: usize = 64;
const BYTES: u64 = 4 * LEN as u64;

/// A simulator with two kernels, and short forms of the driver's calls.
struct Bench {
    driver: HostDriver,
    set: LoadedKernel,
    copy: LoadedKernel,
}

unsafe fn words<'a>(address: u64) -> &'a mut [u32] {
    unsafe { std::slice::from_raw_parts_mut(super::memory::pointer(address).cast(), LEN) }
}

/// The body of the kernel `set(out, value)`: fills a buffer with a value.
unsafe fn set(args: HostArgs<'_>) {
    unsafe { words(args.params[0].get()) }.fill(args.params[1].get());
}

/// The body of the kernel `copy(out, in)`: copies a buffer.
unsafe fn copy(args: HostArgs<'_>) {
    unsafe { words(args.params[0].get()).copy_from_slice(words(args.params[1].get())) };
}

const DEVICE: DeviceId = DeviceId(0);

impl Bench {
    fn new(policy: Policy, seed: u64) -> Self {
        Self::with(HostDriver::builder().policy(policy).seed(seed).trace(true))
    }

    fn with(builder: HostBuilder) -> Self {
        let driver = builder.build();
        let set = load(&driver, "set", set);
        let copy = load(&driver, "copy", copy);
        Self { driver, set, copy }
    }

    fn stream(&self) -> RawStream {
        self.driver.create_stream(DEVICE, StreamOptions::default()).unwrap()
    }

    fn blocking_stream(&self) -> RawStream {
        let options = StreamOptions { flags: StreamFlags::Blocking, priority: 0, green: None };
        self.driver.create_stream(DEVICE, options).unwrap()
    }

    fn event(&self) -> RawEvent {
        self.driver.create_event(DEVICE).unwrap()
    }

    fn buffer(&self, stream: RawStream) -> MemoryRange {
        unsafe { self.driver.allocate(stream, BYTES, MemorySource::Unused) }.unwrap()
    }

    /// Allocates a buffer, and waits until the allocation has executed.
    fn settled_buffer(&self) -> MemoryRange {
        let stream = self.stream();
        let buffer = self.buffer(stream);
        unsafe { self.driver.synchronize_stream(stream) }.unwrap();
        buffer
    }

    fn launch(&self, stream: RawStream, kernel: LoadedKernel, params: &[Param]) {
        launch(&self.driver, stream, kernel, params).unwrap();
    }

    fn set(&self, stream: RawStream, out: MemoryRange, value: u32) {
        self.launch(stream, self.set, &[Param::new(out.address), Param::new(value)]);
    }

    fn copy(&self, stream: RawStream, out: MemoryRange, source: MemoryRange) {
        self.launch(stream, self.copy, &[Param::new(out.address), Param::new(source.address)]);
    }

    /// Makes `stream` wait for all work that is queued on `producer` now.
    fn edge(&self, producer: RawStream, stream: RawStream) {
        let event = self.event();
        unsafe { self.driver.record_event(event, producer) }.unwrap();
        unsafe { self.driver.wait_event(stream, event) }.unwrap();
        unsafe { self.driver.destroy_event(event).unwrap() };
    }

    fn wait(&self, stream: RawStream) {
        unsafe { self.driver.synchronize_stream(stream) }.unwrap();
    }

    /// Waits for a stream, on a thread that has bound no device yet.
    fn wait_on_a_thread(&self, stream: RawStream) {
        self.driver.bind(DEVICE).unwrap();
        self.wait(stream);
    }

    /// Returns the current content of a buffer, whether or not work on it is still queued.
    fn peek(&self, range: MemoryRange) -> u32 {
        let words = unsafe { words(range.address) };
        assert!(words.iter().all(|word| *word == words[0]), "torn: {words:x?}");
        words[0]
    }

    /// Returns the content of a buffer, by a copy that is queued on `stream`.
    fn download(&self, stream: RawStream, source: MemoryRange) -> u32 {
        let mut target = [0_u32; LEN];
        let target_range =
            MemoryRange { address: target.as_mut_ptr().expose_provenance() as u64, bytes: BYTES };
        let copy =
            CopyOp { kind: CopyKind::DeviceToPageable, target: target_range, source, rows: None };
        unsafe { self.driver.copy(stream, &copy).unwrap() };
        assert!(target.iter().all(|word| *word == target[0]), "torn: {target:x?}");
        target[0]
    }
}

fn load(driver: &HostDriver, name: &str, body: HostKernel) -> LoadedKernel {
    let image = |_| unreachable!("the simulator uses no image");
    let source = KernelSource { name, entry: name, host: Some(body), code: Code::Image(&image) };
    unsafe { driver.load_kernel(DEVICE, &source) }.unwrap()
}

fn launch(
    driver: &HostDriver,
    stream: RawStream,
    kernel: LoadedKernel,
    params: &[Param],
) -> DriverResult<()> {
    let accesses: &[Access] = &[];
    let launch = Launch {
        function: kernel.function,
        name: "test",
        grid: [1; 3],
        block: [LEN as u32, 1, 1],
        shared_bytes: 0,
        params,
        accesses,
        rows: &[],
    };
    unsafe { driver.launch(stream, &launch) }
}

/// Returns a 32-bit word of a poison pattern.
fn poisoned(pattern: u16) -> u32 {
    u32::from(pattern) << 16 | u32::from(pattern)
}

const ALL: [Policy; 4] = [Policy::Eager, Policy::Lazy, Policy::SlowestLast, Policy::Random];

/// Returns the code and the name of the error that a refused call has returned.
fn code_of<T: fmt::Debug>(result: DriverResult<T>) -> (i32, String) {
    match result {
        Err(DriverError::Call { code, name, .. }) => (code, name),
        other => panic!("not a refused call: {other:?}"),
    }
}
