//! Tests of how schedulers sleep while a device works without calls, for many seeds. A simulator executes work only inside of
//! calls, so its scheduler would query it and not sleep. Here another thread of the test makes these calls, as the device. Only a
//! signal ends a sleep, so a lost wake-up shows as an error of the run.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use crate::driver::host::HostDriver;
use crate::driver::{
    DeviceId, Driver, DriverResult, HostFunction, Layer, Observer, RawStream, Signal, StreamOptions,
};
use crate::lock::locked;
use crate::platform::Platform;
use crate::prelude::*;
use crate::schedule::idle::LONG;
use crate::testing::scope;
use crate::time::Clock;
use crate::turns::{Pct, Turns};

/// A layer over a simulator whose queued work is executed without calls of the runtime: a thread calls [`work`](Self::work).
#[derive(Debug)]
struct WorksAlone {
    host: HostDriver,
    streams: Mutex<Vec<RawStream>>,
    /// The signal that is raised when a host function is queued, and at the end of the test.
    queued: Signal,
    /// How many host functions were queued. A scheduler queues one for each point for which it sleeps.
    functions: AtomicU64,
    is_over: AtomicBool,
}

impl WorksAlone {
    fn new(host: HostDriver) -> Self {
        let (streams, queued) = (Mutex::default(), Signal::default());
        Self {
            host,
            streams,
            queued,
            functions: AtomicU64::new(0),
            is_over: AtomicBool::new(false),
        }
    }

    /// Executes the queued work in an order that the seed decides, until [`end`](Self::end) is called.
    fn work(&self) {
        self.host.bind(DeviceId(0)).unwrap();
        loop {
            let seen = self.queued.raised();
            if self.is_over.load(Ordering::Acquire) {
                return;
            }
            let streams = locked(&self.streams).clone();
            // SAFETY: if the stream was destroyed meanwhile, the simulator returns an error for it.
            let is_done =
                |stream: &RawStream| unsafe { self.host.query_stream(*stream) } != Ok(false);
            // A query of a stream with work makes the simulator execute some of the work.
            let done = streams.iter().filter(|stream| is_done(stream)).count();
            if done == streams.len() && !self.queued.sleep(seen, LONG) {
                return;
            }
        }
    }

    fn end(&self) {
        self.is_over.store(true, Ordering::Release);
        self.queued.raise();
    }
}

// SAFETY: every call is passed on unchanged.
unsafe impl Layer for WorksAlone {
    fn below(&self) -> &dyn Driver {
        &self.host
    }

    fn observer(&self) -> &dyn Observer {
        self
    }

    fn create_stream(&self, device: DeviceId, options: StreamOptions) -> DriverResult<RawStream> {
        let stream = self.host.create_stream(device, options)?;
        locked(&self.streams).push(stream);
        Ok(stream)
    }

    unsafe fn destroy_stream(&self, stream: RawStream) -> DriverResult<()> {
        locked(&self.streams).retain(|other| *other != stream);
        // SAFETY: the caller guarantees the same for the layer below.
        unsafe { self.host.destroy_stream(stream) }
    }

    unsafe fn launch_host_function(&self, stream: RawStream, it: HostFunction) -> DriverResult<()> {
        // SAFETY: the caller guarantees the same for the layer below.
        unsafe { self.host.launch_host_function(stream, it) }?;
        self.functions.fetch_add(1, Ordering::Relaxed);
        self.queued.raise();
        Ok(())
    }
}

impl Observer for WorksAlone {
    fn next(&self) -> Option<&dyn Observer> {
        Some(self.host.observer())
    }

    fn works_alone(&self) -> bool {
        true
    }
}

/// A source that fills a buffer with the number of its tick, on its own stream.
#[operator(streams(fill))]
struct Numbers {
    #[output]
    image: Buffer<u8>,
}

impl Compute for Numbers {
    fn compute(&mut self, io: NumbersIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.fill)?;
        let mut image = cx.buffer(1, &stream)?;
        stream.fill_bytes(&mut image, cx.tick() as u8)?;
        io.image.set_cuda_stream(&stream).emit(image)
    }
}

/// A sink that stores the numbers received.
#[operator]
struct Keeps {
    #[input]
    image: &Buffer<u8>,
    kept: Vec<u8>,
}

impl Compute for Keeps {
    fn compute(&mut self, io: KeepsIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (image, stream) = io.image.receive().receive_cuda_stream(cx)?;
        self.kept.extend(stream.download_blocking(image)?);
        Ok(())
    }
}

graph! {
    /// Each consumer waits until the device has finished a message's data, and then for the message of the next tick.
    struct TwoChains {
        const STREAMS: CudaStreamPool = CudaStreamPool::new().max_size(4);

        #[streams(STREAMS)] #[when(count(3))] let a: Numbers = Numbers::new();
        #[streams(STREAMS)] #[when(count(3))] let b: Numbers = Numbers::new();
        #[streams(STREAMS)] #[when(stream_done(image))] let of_a: Keeps = Keeps::new(Vec::new());
        #[streams(STREAMS)] #[when(stream_done(image))] let of_b: Keeps = Keeps::new(Vec::new());
        a.image >> of_a.image;
        b.image >> of_b.image;
    }
}

/// Runs the graph with a thread as the device. Returns the number of points for which the run's schedulers slept.
fn sleeps(seed: u64, workers: Option<usize>) -> u64 {
    let turns = Turns::new(Box::new(Pct::new(seed)));
    let host = HostDriver::builder().seed(seed).turns(turns.clone()).build();
    let device = Arc::new(WorksAlone::new(host));
    let seat = turns.enter();
    let builder = Platform::builder().clock(&Clock::simulated()).race_check(false);
    let platform = builder.driver(device.clone()).unwrap();
    let mut graph = TwoChains::new(&platform).unwrap();
    if let Some(workers) = workers {
        graph.workers(workers).unwrap();
    }
    let done = scope(|threads| {
        threads.spawn(|| device.work());
        let done = graph.run();
        device.end();
        done
    });
    assert!(done.is_ok(), "seed {seed}, {workers:?} workers: {done:?}");
    let kept = [&graph.of_a().kept, &graph.of_b().kept];
    assert_eq!(kept, [&[0, 1, 2]; 2], "seed {seed}, {workers:?} workers");
    drop((graph, platform, seat));
    assert_eq!(turns.trouble(), None, "seed {seed}, {workers:?} workers");
    device.functions.load(Ordering::Relaxed)
}

#[test]
fn a_device_that_works_alone_wakes_schedulers_in_each_order() {
    for workers in [None, Some(1), Some(2)] {
        let slept: u64 = (0..32).map(|seed| sleeps(seed, workers)).sum();
        assert!(slept > 8, "{workers:?} workers slept for {slept} points alone");
    }
}
