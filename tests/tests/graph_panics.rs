//! Wherever a user's code may panic, the run ends with an error, every operator is stopped, and no message is left.
#![allow(missing_docs, reason = "a test binary")]
#![allow(clippy::panic, reason = "that is what is tested")]

use std::panic::panic_any;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use streamflow::prelude::*;
use streamflow::testing::OperatorHarness;
use streamflow_tests::{Failed, Suite, check, check_error, check_text};

fn main() -> ExitCode {
    // The panics are wanted, and the harness tells of any other.
    std::panic::set_hook(Box::new(|_| ()));
    Suite::new()
        .both("a_panic_anywhere_ends_the_run_with_an_error", anywhere)
        .both("a_panic_anywhere_is_an_error_of_the_harness", in_the_harness)
        .seeded("a_panic_in_a_kernel_ends_the_run_with_an_error", in_a_kernel)
        .run()
}

/// What panics. Messages do when they are dropped, which happens at different places.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Start,
    Compute,
    Stop,
    /// When the tick that received it ends.
    Received,
    Discarded,
    /// For a later one, by the edge's policy, when that is sent.
    Popped,
    /// Since the edge has no room, when it is sent.
    Rejected,
    /// Several, when the run ends.
    Waiting,
    /// All that a tick has emitted which then fails, and all that waits.
    Cancelled,
}

const PLACES: [(Place, &str); 9] = [
    (Place::Start, "operator `reader` failed in `start`, tick 0: it panicked: "),
    (Place::Compute, "operator `reader` failed in `compute`, tick 2: it panicked: "),
    (Place::Stop, "operator `reader` failed in `stop`, tick 6: it panicked: "),
    (Place::Received, "operator `reader` failed in `compute`, tick 0: it panicked: Received"),
    (Place::Discarded, "operator `reader` failed in `compute`, tick 0: it panicked: Discarded"),
    (Place::Popped, "operator `source` failed in `compute`, tick 2: it panicked: Popped"),
    (Place::Rejected, "operator `source` failed in `compute`, tick 2: it panicked: Rejected"),
    (Place::Waiting, "operator `lazy` failed in `stop`, tick 6: it panicked: Waiting"),
    (Place::Cancelled, "operator `source` failed in `compute`, tick 2: out of paper; while"),
];

/// What all operators and messages of a graph share.
#[derive(Debug)]
struct World {
    place: Place,
    /// What a hook's panic carries panics when it is dropped.
    carries: bool,
    armed: AtomicBool,
    started: AtomicUsize,
    stopped: AtomicUsize,
    alive: AtomicUsize,
}

/// What a panic carries that panics itself.
struct Charge;

impl Drop for Charge {
    fn drop(&mut self) {
        panic!("a charge");
    }
}

impl World {
    fn new(place: Place, carries: bool) -> Arc<Self> {
        Arc::new(Self {
            place,
            carries,
            armed: AtomicBool::new(true),
            started: AtomicUsize::new(0),
            stopped: AtomicUsize::new(0),
            alive: AtomicUsize::new(0),
        })
    }

    fn is_at(&self, place: Place) -> bool {
        self.place == place && self.armed.load(Ordering::Relaxed)
    }

    fn strike(&self, place: Place) {
        match (self.is_at(place), self.carries) {
            (false, _) => {}
            (true, false) => panic!("{place:?}"),
            (true, true) => panic_any(Charge),
        }
    }
}

/// Panics when it is dropped, also in the course of another panic, which would abort the process.
struct Bomb {
    place: Place,
    world: Arc<World>,
}

impl Bomb {
    fn new(place: Place, world: &Arc<World>) -> HostData<Self> {
        world.alive.fetch_add(1, Ordering::Relaxed);
        HostData(Self { place, world: world.clone() })
    }
}

impl Drop for Bomb {
    fn drop(&mut self) {
        self.world.alive.fetch_sub(1, Ordering::Relaxed);
        if self.world.is_at(self.place) || self.world.is_at(Place::Cancelled) {
            panic!("{:?}", self.place);
        }
    }
}

#[operator]
struct Source {
    #[output]
    read: HostData<Bomb>,
    #[output]
    discarded: HostData<Bomb>,
    #[output]
    popped: HostData<Bomb>,
    #[output]
    rejected: HostData<Bomb>,
    #[output]
    waiting: HostData<Bomb>,
    world: Arc<World>,
}

impl Compute for Source {
    fn start(&mut self, _: SourceStreams<'_>, _: &ExecutionContext) -> Result<()> {
        self.world.started.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    fn compute(&mut self, io: SourceIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.read.emit(Bomb::new(Place::Received, &self.world))?;
        io.discarded.emit(Bomb::new(Place::Discarded, &self.world))?;
        io.popped.emit(Bomb::new(Place::Popped, &self.world))?;
        io.rejected.emit(Bomb::new(Place::Rejected, &self.world))?;
        io.waiting.emit(Bomb::new(Place::Waiting, &self.world))?;
        if cx.tick() == 2 && self.world.is_at(Place::Cancelled) {
            return Err(Error::other("out of paper"));
        }
        Ok(())
    }

    fn stop(&mut self, _: &ExecutionContext) -> Result<()> {
        self.world.stopped.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
}

#[operator]
struct Reader {
    #[input]
    read: &HostData<Bomb>,
    #[input]
    discarded: &HostData<Bomb>,
    world: Arc<World>,
}

impl Compute for Reader {
    fn start(&mut self, _: ReaderStreams<'_>, _: &ExecutionContext) -> Result<()> {
        self.world.started.fetch_add(1, Ordering::Relaxed);
        self.world.strike(Place::Start);
        Ok(())
    }

    fn compute(&mut self, io: ReaderIo<'_>, cx: &ExecutionContext) -> Result<()> {
        // With all bombs armed, none is dropped before the tick that fails.
        if self.world.is_at(Place::Cancelled) {
            io.read.leave();
            io.discarded.leave();
            return Ok(());
        }
        io.discarded.discard();
        let _read = io.read.receive();
        if cx.tick() == 2 {
            self.world.strike(Place::Compute);
        }
        Ok(())
    }

    fn stop(&mut self, _: &ExecutionContext) -> Result<()> {
        self.world.stopped.fetch_add(1, Ordering::Relaxed);
        self.world.strike(Place::Stop);
        Ok(())
    }
}

/// Leaves all messages, and ticks as often as the source.
#[operator]
struct Lazy {
    #[input]
    popped: &HostData<Bomb>,
    #[input]
    rejected: &HostData<Bomb>,
    #[input]
    waiting: &HostData<Bomb>,
    world: Arc<World>,
}

impl Compute for Lazy {
    fn start(&mut self, _: LazyStreams<'_>, _: &ExecutionContext) -> Result<()> {
        self.world.started.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    fn compute(&mut self, io: LazyIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.popped.leave();
        io.rejected.leave();
        io.waiting.leave();
        Ok(())
    }

    fn stop(&mut self, _: &ExecutionContext) -> Result<()> {
        self.world.stopped.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
}

graph! {
    struct Bombs(world: Arc<World>) {
        #[when(count(6))]
        let source: Source = Source::new(world.clone());
        let reader: Reader = Reader::new(world.clone());
        #[when(count(6))]
        let lazy: Lazy = Lazy::new(world);
        #[capacity(9)]
        source.read >> reader.read;
        #[capacity(9)]
        source.discarded >> reader.discarded;
        #[policy(pop)]
        #[capacity(2)]
        source.popped >> lazy.popped;
        #[policy(reject)]
        #[capacity(2)]
        source.rejected >> lazy.rejected;
        #[capacity(9)]
        source.waiting >> lazy.waiting;
    }
}

/// All that were started are stopped, and no message is left.
fn all_ended(world: &World, what: &str) -> Result<(), Failed> {
    let [started, stopped, alive] = [&world.started, &world.stopped, &world.alive]
        .map(|count| count.swap(0, Ordering::Relaxed));
    let ended = started > 0 && started == stopped && alive == 0;
    check(ended, || format!("{what}: {started} started, {stopped} stopped, {alive} messages left"))
}

fn anywhere(platform: &Platform) -> Result<(), Failed> {
    for (place, text) in PLACES {
        for carries in [false, true] {
            let (world, what) = (World::new(place, carries), format!("{place:?}"));
            let mut graph = Bombs::new(platform, world.clone())?;
            // Twice: nothing of the first run is in the way of the second.
            for _ in 0..2 {
                let told = check_error(&what, graph.run(), |_| true)?;
                check_text(&told, &[text])?;
                all_ended(&world, &what)?;
            }
            world.armed.store(false, Ordering::Relaxed);
            graph.run()?;
            all_ended(&world, &what)?;
        }
    }
    Ok(())
}

fn in_the_harness(platform: &Platform) -> Result<(), Failed> {
    // What nobody took of a tick is dropped before the next.
    let world = World::new(Place::Popped, false);
    let mut harness = OperatorHarness::new(platform, Source::new(world.clone()))?;
    check(harness.tick()?, || "it is ready".into())?;
    let told = check_error("a message that nobody took", harness.tick(), |_| true)?;
    check_text(&told, &["panicked: Popped"])?;
    check(world.alive.load(Ordering::Relaxed) == 0, || "messages are left".into())?;
    harness.stop()?;
    all_ended(&world, "the harness")?;
    for (place, name) in [(Place::Waiting, "stop"), (Place::Received, "compute")] {
        let world = World::new(place, false);
        let mut harness = OperatorHarness::new(platform, Reader::new(world.clone()))?;
        for _ in 0..3 {
            harness.push(|ports| &mut ports.read, Bomb::new(place, &world))?;
        }
        let ticked = match place {
            Place::Waiting => harness.stop(),
            _ => {
                harness.push(|ports| &mut ports.discarded, Bomb::new(Place::Discarded, &world))?;
                harness.tick().map(drop)
            }
        };
        let told = check_error(name, ticked, |_| true)?;
        check_text(&told, &[&format!("failed in `{name}`"), &format!("panicked: {place:?}")])?;
        // Messages that wait panic, too, when they are dropped.
        let _more = harness.stop();
        check(world.alive.load(Ordering::Relaxed) == 0, || "messages are left".into())?;
    }
    Ok(())
}

/// data[0] = 1
#[kernel(unsafe cuda = "data[0] = 1;")]
fn charged(data: &mut [f32]) {
    data[0] = 1.0;
    panic_any(Charge);
}

#[operator(streams(work))]
struct Launch {
    #[output]
    number: u64,
    stopped: Arc<AtomicUsize>,
}

impl Compute for Launch {
    fn compute(&mut self, io: LaunchIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.work)?;
        let mut data = cx.tensor([1], &stream)?;
        stream.launch::<charged>(1, (&mut data,))?;
        io.number.emit(cx.tick())
    }

    fn stop(&mut self, _: &ExecutionContext) -> Result<()> {
        self.stopped.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
}

graph! {
    struct InAKernel(stopped: Arc<AtomicUsize>) {
        #[when(count(2))]
        let launch: Launch = Launch::new(stopped);
        launch.number >> _;
    }
}

fn in_a_kernel(seed: u64) -> Result<(), Failed> {
    let platform = Platform::host().seed(seed).build()?;
    let stopped = Arc::new(AtomicUsize::new(0));
    let run = InAKernel::new(&platform, stopped.clone())?.run();
    let told = check_error("a kernel that panics", run, |_| true)?;
    check_text(&told, &["kernel `charged` panicked: (no text)"])?;
    check(stopped.load(Ordering::Relaxed) == 1, || "it was not stopped".into())
}
