//! Checks that conditions allocate no memory in a tick.

use streamflow::memory::{Allocator, MemoryLimits};
use streamflow::operator::{Answer, AsyncHandle, BooleanHandle, Condition};
use streamflow::prelude::*;
use streamflow::time::Timestamp;
use streamflow_tests::allocations::{count, so_far_of_all};
use streamflow_tests::{Failed, Suite, check_equal, child};

use super::batches;
use super::operators::simulated;

/// The role of a child process that has only the threads of one run, so that its allocations can be counted.
pub(crate) const ROLE: &str = "allocations";
const SEED: &str = "ALLOCATIONS_SEED";
const TEST: &str = "ALLOCATIONS_TEST";

pub(crate) fn add(suite: Suite) -> Suite {
    ["conditions", "batches"].into_iter().fold(suite, |suite, test| {
        suite.seeded(&format!("{test}_make_no_heap_allocations"), move |seed| {
            child::run("conditions", ROLE, &[(TEST, test), (SEED, &seed.to_string())])
        })
    })
}

pub(crate) fn in_child() -> Result<(), Failed> {
    let seed = std::env::var(SEED)?.parse()?;
    match std::env::var(TEST)?.as_str() {
        "batches" => batches::no_allocations(seed),
        _ => no_allocations(seed),
    }
}

const WARM_UP: u64 = 200;
const TICKS: u64 = 1000;

struct Always;

impl Condition for Always {
    fn check(&mut self, _: Timestamp) -> Answer {
        Answer::Ready
    }
}

/// A source with two handles as conditions, which it uses in each tick.
#[operator]
struct Source {
    #[output]
    number: u64,
    trigger: AsyncHandle,
    switch: BooleanHandle,
}

impl Compute for Source {
    fn compute(&mut self, io: SourceIo<'_>, cx: &ExecutionContext) -> Result<()> {
        self.trigger.notify()?;
        self.switch.set(true)?;
        io.number.emit(cx.tick())
    }
}

/// An operator that notes how many allocations the process had made after the warm-up, and how many at its latest
/// tick.
#[operator]
struct Sink {
    #[input]
    number: u64,
    warm: u64,
    last: u64,
}

impl Compute for Sink {
    fn compute(&mut self, io: SinkIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.number.discard();
        self.last = so_far_of_all();
        if cx.tick() == WARM_UP {
            self.warm = self.last;
        }
        Ok(())
    }
}

graph! {
    struct Conditions(memory: Allocator, trigger: AsyncHandle, switch: BooleanHandle) {
        #[when(
            count(TICKS),
            periodic(1ms),
            boolean(switch),
            room(number),
            memory_available(memory, bytes(100)),
            condition(Always),
        )]
        let source: Source = Source::new(trigger.clone(), switch);
        #[when(asynchronous(trigger), any(message_available(number, 2), expiring(number, 3ms)))]
        let sink: Sink = Sink::new(0, 0);
        #[capacity(4)]
        source.number >> sink.number;
    }
}

fn no_allocations(seed: u64) -> Result<(), Failed> {
    // Checks the counter itself: it sees the allocation of one `Box`.
    check_equal(count(|| drop(std::hint::black_box(Box::new(7)))).0, 1)?;
    let platform = simulated(seed)?.0;
    let memory = platform.allocator("M", device(0), MemoryLimits::blocks(100, 1))?;
    let mut graph =
        Conditions::new(&platform, memory, AsyncHandle::new(), BooleanHandle::new(true))?;
    let report = graph.run()?;
    check_equal(report.ticks("sink"), Some(TICKS))?;
    let (warm, last) = (graph.sink().warm, graph.sink().last);
    super::check_no_allocations(warm, last)
}
