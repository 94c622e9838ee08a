//! Wherever user code panics, the run ends with an error, every started operator is stopped, and no message is left.
#![allow(clippy::panic, reason = "the test is about panics")]

use std::panic::panic_any;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use streamflow::prelude::*;
use streamflow::testing::OperatorHarness;
use streamflow_tests::greedy::greedy;
use streamflow_tests::seen::{self, Seen, push_seen};
use streamflow_tests::{Failed, Suite, check, check_equal, check_error, check_text};

pub(crate) fn suite() -> Suite {
    // The test causes these panics, and the harness reports any other.
    std::panic::set_hook(Box::new(|_| ()));
    Suite::new()
        .both("a_panic_anywhere_ends_the_run_with_an_error", anywhere)
        .both("a_panic_anywhere_is_an_error_of_the_operator_harness", in_the_harness)
        .seeded("a_panic_in_a_kernel_ends_the_run_with_an_error", in_a_kernel)
        .both("a_panic_of_a_message_that_an_edge_drops_keeps_no_message_back", evicted)
}

/// Where user code panics. Messages panic in their drop, at different places.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Start,
    Compute,
    Stop,
    /// A received message is dropped when its tick ends.
    Received,
    Discarded,
    /// A queued message is dropped by the edge's policy when a later message is sent.
    Popped,
    /// A new message, dropped by the edge's policy because the queue is full.
    Rejected,
    /// Several queued messages are dropped when the run ends.
    Waiting,
    /// The messages that a failed tick has emitted, and all queued messages.
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

/// The state that all operators and messages of a graph share.
#[derive(Debug)]
struct World {
    place: Place,
    /// Whether a hook's panic payload itself panics when it is dropped.
    carries: bool,
    armed: AtomicBool,
    started: AtomicUsize,
    stopped: AtomicUsize,
    alive: AtomicUsize,
}

/// A panic payload that panics when it is dropped.
struct PanicOnDrop;

impl Drop for PanicOnDrop {
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

    fn panic_at(&self, place: Place) {
        match (self.is_at(place), self.carries) {
            (false, _) => {}
            (true, false) => panic!("{place:?}"),
            (true, true) => panic_any(PanicOnDrop),
        }
    }
}

/// A message whose drop panics. A second panic during the first would abort the process.
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
    #[output]
    paced: u64,
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
        io.paced.emit(cx.tick())?;
        if cx.tick() == 2 && self.world.is_at(Place::Cancelled) {
            return Err(Failure::msg("out of paper"));
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
        self.world.panic_at(Place::Start);
        Ok(())
    }

    fn compute(&mut self, io: ReaderIo<'_>, cx: &ExecutionContext) -> Result<()> {
        // For `Cancelled` all bombs are armed, so no bomb is dropped before the failing tick.
        if self.world.is_at(Place::Cancelled) {
            io.read.leave();
            io.discarded.leave();
            return Ok(());
        }
        io.discarded.discard();
        let _read = io.read.receive();
        if cx.tick() == 2 {
            self.world.panic_at(Place::Compute);
        }
        Ok(())
    }

    fn stop(&mut self, _: &ExecutionContext) -> Result<()> {
        self.world.stopped.fetch_add(1, Ordering::Relaxed);
        self.world.panic_at(Place::Stop);
        Ok(())
    }
}

/// Leaves all bombs in the queue. It ticks as often as the source, since it receives a second message that paces it.
#[operator]
struct Lazy {
    #[input]
    popped: &HostData<Bomb>,
    #[input]
    rejected: &HostData<Bomb>,
    #[input]
    waiting: &HostData<Bomb>,
    #[input]
    paced: u64,
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
        io.paced.discard();
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
        #[capacity(9)]
        source.paced >> lazy.paced;
    }
}

/// Checks that all started operators are stopped, and that no message is left.
fn check_ended(world: &World, what: &str) -> Result<(), Failed> {
    let [started, stopped, alive] = [&world.started, &world.stopped, &world.alive]
        .map(|count| count.swap(0, Ordering::Relaxed));
    let ended = started > 0 && started == stopped && alive == 0;
    check(ended, || format!("{what}: {started} started, {stopped} stopped, {alive} messages left"))
}

fn anywhere(platform: &Platform) -> Result<(), Failed> {
    for (place, expected) in PLACES {
        for carries in [false, true] {
            let (world, what) = (World::new(place, carries), format!("{place:?}"));
            let mut graph = Bombs::new(platform, world.clone())?;
            // The graph runs twice: the first run must leave nothing that disturbs the second.
            for _ in 0..2 {
                let text = check_error(&what, graph.run(), |_| true)?;
                check_text(&text, &[expected])?;
                check_ended(&world, &what)?;
            }
            world.armed.store(false, Ordering::Relaxed);
            graph.run()?;
            check_ended(&world, &what)?;
        }
    }
    Ok(())
}

fn in_the_harness(platform: &Platform) -> Result<(), Failed> {
    // A message that the test did not take is dropped before the next tick.
    let world = World::new(Place::Popped, false);
    let mut harness = OperatorHarness::new(platform, Source::new(world.clone()))?;
    check(harness.tick()?, || "the operator was not ready".into())?;
    let text = check_error("a message that was not taken", harness.tick(), |_| true)?;
    check_text(&text, &["panicked: Popped"])?;
    check(world.alive.load(Ordering::Relaxed) == 0, || "messages are left".into())?;
    harness.stop()?;
    check_ended(&world, "the harness")?;
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
        let text = check_error(name, ticked, |_| true)?;
        check_text(&text, &[&format!("failed in `{name}`"), &format!("panicked: {place:?}")])?;
        // Queued messages also panic when they are dropped.
        let _more = harness.stop();
        check(world.alive.load(Ordering::Relaxed) == 0, || "messages are left".into())?;
    }
    Ok(())
}

/// data[0] = 1
#[kernel(unsafe cuda = "data[0] = 1;")]
fn charged(data: &mut [f32]) {
    data[0] = 1.0;
    panic_any(PanicOnDrop);
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
    let text = check_error("a kernel that panics", run, |_| true)?;
    check_text(&text, &["kernel `charged` panicked: (no text)"])?;
    check(stopped.load(Ordering::Relaxed) == 1, || "the operator was not stopped".into())
}

/// The number of a tick as a message. The drop of the first tick's number panics.
struct Numbered(u64);

impl Drop for Numbered {
    fn drop(&mut self) {
        if self.0 == 0 {
            panic!("the first message");
        }
    }
}

#[operator]
struct Numbers {
    #[output]
    one: HostData<Numbered>,
    #[output]
    two: u64,
}

impl Compute for Numbers {
    fn compute(&mut self, io: NumbersIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.one.emit(HostData(Numbered(cx.tick())))?;
        io.two.emit(cx.tick())
    }
}

/// Reads no message until the third tick.
#[operator]
struct Late {
    #[input]
    one: &HostData<Numbered>,
    #[input]
    paced: u64,
    got: Seen<(u64, Option<u64>)>,
}

impl Compute for Late {
    fn compute(&mut self, io: LateIo<'_>, _: &ExecutionContext) -> Result<()> {
        let number = io.paced.receive().into_data();
        if number < 2 {
            io.one.leave();
            push_seen(&self.got, (number, None));
        } else {
            push_seen(&self.got, (number, Some(io.one.receive().into_data().0.0)));
        }
        Ok(())
    }
}

#[operator]
struct Each {
    #[input]
    one: &HostData<Numbered>,
    got: Seen<u64>,
}

impl Compute for Each {
    fn compute(&mut self, io: EachIo<'_>, _: &ExecutionContext) -> Result<()> {
        let number = io.one.receive().into_data().0.0;
        push_seen(&self.got, number);
        Ok(())
    }
}

graph! {
    struct Evicting(late: Seen<(u64, Option<u64>)>, each: Seen<u64>) {
        #[when(count(4))] #[on_failure(skip)] let numbers: Numbers = Numbers::new();
        let late: Late = Late::new(late);
        let each: Each = Each::new(each);
        #[policy(pop)]
        #[capacity(2)]
        numbers.one >> late.one;
        #[capacity(4)]
        numbers.one >> each.one;
        #[capacity(4)]
        numbers.two >> late.paced;
    }
}

/// An edge with `pop` drops the first message when it gets the third one. The tick counts as failed, and all that it emitted
/// is sent: edges behind that one, and other outputs, get their messages.
fn evicted(platform: &Platform) -> Result<(), Failed> {
    let (late, each) = (Seen::default(), Seen::default());
    // On one thread, `each` has read the first message before the edge drops its handle, which is then the last one.
    let report = greedy(Evicting::new(platform, late.clone(), each.clone())?)?.run()?;
    check_text(&report.to_string(), &["it panicked: the first message"])?;
    check_equal(seen::all(&each), vec![0, 1, 2, 3])?;
    check_equal(seen::all(&late), vec![(0, None), (1, None), (2, Some(1)), (3, Some(2))])
}
