//! The world of a test: a replaying driver on the simulator, with streams, events, memory and two kernels.

use std::sync::Arc;

use super::probe::Probe;
use crate::driver::host::HostDriver;
use crate::driver::replay::ReplayRun;
use crate::driver::replay::{Omission, ReplayReport, Replaying, Replays};
use crate::driver::{
    Access, AccessMode, Code, DeviceId, Driver, DriverError, DriverResult, HostArgs, HostKernel,
    KernelSource, Launch, MemoryRange, MemorySource, Param, RawEvent, RawFunction, RawStream,
    StreamOptions,
};

/// A number in device memory, by its address.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cell(pub(super) u64);

impl Cell {
    pub(super) fn range(self) -> MemoryRange {
        MemoryRange { address: self.0, bytes: 8 }
    }

    /// Returns the number that the cell holds now. The simulator executes work only inside of calls, so no work executes
    /// during the read.
    pub(super) fn now(self) -> u64 {
        let number = std::ptr::with_exposed_provenance::<u64>(self.0 as usize);
        // SAFETY: the simulator's device memory is memory of the process, and stays allocated while the driver lives.
        unsafe { number.read() }
    }
}

pub(super) struct World {
    pub(super) driver: Arc<Replaying<Probe>>,
    pub(super) run: ReplayRun,
    pub(super) streams: [RawStream; 3],
    pub(super) events: [RawEvent; 4],
    /// Eight numbers in device memory, all 0 at first.
    pub(super) cells: [Cell; 8],
    /// A number in memory of other code, which never frees it.
    pub(super) other_code: Cell,
    pub(super) mix: RawFunction,
    pub(super) other: RawFunction,
    /// Whether the end of the last `run_pass` has succeeded.
    pub(super) has_ended_well: bool,
}

const DEVICE: DeviceId = DeviceId(0);

/// The body of the kernel `mix`: `to = to * 3 + from * 5 + value`.
unsafe fn mix(args: HostArgs<'_>) {
    // SAFETY: the parameters are those of `World::try_launch`.
    unsafe { compute(args, |to, from, value| to.wrapping_mul(3).wrapping_add(from * 5 + value)) }
}

/// The body of the kernel `other`: `to = to * 7 + from + value`.
unsafe fn other(args: HostArgs<'_>) {
    // SAFETY: the parameters are those of `World::try_launch`.
    unsafe { compute(args, |to, from, value| to.wrapping_mul(7).wrapping_add(from + value)) }
}

unsafe fn compute(args: HostArgs<'_>, of: fn(u64, u64, u64) -> u64) {
    let address = |index: usize| args.params[index].get::<u64>() as usize;
    let to = std::ptr::with_exposed_provenance_mut::<u64>(address(0));
    let from = std::ptr::with_exposed_provenance::<u64>(address(1));
    // SAFETY: both numbers are live for the call, by the kernel's contract.
    unsafe { to.write(of(to.read() % 1000, from.read() % 1000, address(2) as u64)) };
}

impl World {
    pub(super) fn new(seed: u64, left_out: Option<Omission>) -> Self {
        Self::on(HostDriver::builder().seed(seed).build(), left_out)
    }

    /// Returns a world on the simulator `host`.
    pub(super) fn on(host: HostDriver, left_out: Option<Omission>) -> Self {
        let probe = Probe::new(host);
        let driver = Arc::new(match left_out {
            // SAFETY: the driver below is the simulator.
            Some(rule) => unsafe { Replaying::without(probe, rule) },
            None => Replaying::new(probe),
        });
        driver.bind(DEVICE).unwrap();
        let streams =
            [(); 3].map(|()| driver.create_stream(DEVICE, StreamOptions::default()).unwrap());
        let events = [(); 4].map(|()| driver.create_event(DEVICE).unwrap());
        let cells = [(); 8].map(|()| {
            // SAFETY: the stream is live, and the memory was just allocated.
            unsafe {
                let range = driver.allocate(streams[0], 8, MemorySource::Unused).unwrap();
                driver.fill(streams[0], range, 0).unwrap();
                Cell(range.address)
            }
        });
        // SAFETY: the stream is live.
        unsafe { driver.synchronize_stream(streams[0]) }.unwrap();
        let load = |name, body: HostKernel| {
            let refuse = |_| Err(DriverError::too_many_params(name, 0));
            let code = Code::Image(&refuse);
            let source = KernelSource { name, entry: name, host: Some(body), code };
            // SAFETY: `try_launch` passes the parameters that the bodies expect.
            unsafe { driver.load_kernel(DEVICE, &source) }.unwrap().function
        };
        let (mix, other) = (load("mix", mix), load("other", other));
        let run = ReplayRun::new(["node".into()].into_iter());
        let other_code = Cell(Box::leak(Box::new(0_u64)) as *mut u64 as u64);
        Self { run, streams, events, cells, other_code, mix, other, driver, has_ended_well: true }
    }

    /// Binds the device on the calling thread, so that the thread can make calls.
    pub(super) fn bind(&self) {
        self.driver.bind(DEVICE).unwrap();
    }

    /// Makes a pass of the world's run. `calls` makes the calls of the pass.
    pub(super) fn pass(&mut self, calls: impl FnOnce(&Self)) {
        self.driver.begin(&mut self.run);
        calls(self);
        self.driver.end(&mut self.run).unwrap();
    }

    /// As [`pass`](Self::pass), for the run `run`.
    pub(super) fn pass_of(&self, run: &mut ReplayRun, calls: impl FnOnce(&Self)) {
        self.driver.begin(run);
        calls(self);
        self.driver.end(run).unwrap();
    }

    /// As [`pass`](Self::pass), for a pass whose end may fail.
    pub(super) fn run_pass(&mut self, calls: impl FnOnce(&Self)) {
        self.driver.begin(&mut self.run);
        calls(self);
        self.has_ended_well = self.driver.end(&mut self.run).is_ok();
    }

    /// Ends the run.
    pub(super) fn leave(&mut self) {
        self.driver.leave(&mut self.run).unwrap();
    }

    pub(super) fn report(&self) -> ReplayReport {
        self.run.report()
    }

    pub(super) fn replayed(&self) -> u64 {
        self.report().replayed
    }

    /// Launches the kernel `mix` on a stream: `to = to * 3 + from * 5 + value`.
    pub(super) fn mix(&self, stream: usize, to: usize, from: usize, value: u64) {
        self.launch(self.mix, stream, to, from, value);
    }

    pub(super) fn launch(
        &self,
        kernel: RawFunction,
        stream: usize,
        to: usize,
        from: usize,
        value: u64,
    ) {
        self.try_launch(kernel, stream, to, from, value).unwrap();
    }

    pub(super) fn try_launch(
        &self,
        kernel: RawFunction,
        stream: usize,
        to: usize,
        from: usize,
        value: u64,
    ) -> DriverResult<()> {
        let (to, from) = (self.cells[to], self.cells[from]);
        let params = [Param::new(to.0), Param::new(from.0), Param::new(value)];
        let access =
            |cell: Cell, mode, argument| Access { range: cell.range(), mode, argument, rows: None };
        let accesses =
            [access(to, AccessMode::Write, "to"), access(from, AccessMode::Read, "from")];
        let launch = Launch {
            function: kernel,
            name: "a kernel",
            grid: [1; 3],
            block: [1; 3],
            shared_bytes: 0,
            params: &params,
            accesses: &accesses,
            rows: &[],
        };
        // SAFETY: the stream and the function are live, the parameters are the function's, and the memory lives as long as
        // the driver.
        unsafe { self.driver.launch(self.streams[stream], &launch) }
    }

    pub(super) fn record(&self, event: usize, stream: usize) {
        // SAFETY: the event and the stream are live.
        unsafe { self.driver.record_event(self.events[event], self.streams[stream]) }.unwrap();
    }

    pub(super) fn wait(&self, stream: usize, event: usize) {
        // SAFETY: the event and the stream are live.
        unsafe { self.driver.wait_event(self.streams[stream], self.events[event]) }.unwrap();
    }

    pub(super) fn query(&self, event: usize) -> bool {
        // SAFETY: the handle is live.
        unsafe { self.driver.query_event(self.events[event]) }.unwrap()
    }

    pub(super) fn finish_event(&self, event: usize) {
        // SAFETY: the handle is live.
        unsafe { self.driver.synchronize_event(self.events[event]) }.unwrap();
    }

    pub(super) fn finish(&self, stream: usize) {
        self.try_finish(stream).unwrap();
    }

    pub(super) fn try_finish(&self, stream: usize) -> DriverResult<()> {
        // SAFETY: the handle is live.
        unsafe { self.driver.synchronize_stream(self.streams[stream]) }
    }

    pub(super) fn now(&self, cell: usize) -> u64 {
        self.cells[cell].now()
    }
}

/// Returns the result of the kernel `mix`, computed on the host.
pub(super) fn mixed(to: u64, from: u64, value: u64) -> u64 {
    (to % 1000) * 3 + (from % 1000) * 5 + value
}

/// Launches two kernels on stream 0, on cells that no other stream touches.
pub(super) fn two_kernels(world: &World) {
    world.mix(0, 0, 0, 5);
    world.mix(0, 1, 0, 1);
}

/// Writes cells 4 and 5 on stream 1. Together with [`reads`], this makes a run with two traces.
pub(super) fn writes(world: &World) {
    world.mix(1, 4, 4, 5);
    world.mix(1, 5, 4, 1);
}

/// Reads cell 2 on stream 1; another stream writes that cell.
pub(super) fn reads(world: &World) {
    world.mix(1, 0, 2, 5);
    world.mix(1, 1, 0, 1);
}
