//! Conditions allocate nothing in a tick.

use streamflow::memory::{Allocator, MemoryLimits};
use streamflow::operator::{Answer, AsyncHandle, BooleanHandle, Condition};
use streamflow::prelude::*;
use streamflow::time::Timestamp;
use streamflow_tests::allocations::{count, so_far};
use streamflow_tests::{Failed, Suite, check, check_equal};

use super::operators::simulated;

pub(crate) fn add(suite: Suite) -> Suite {
    suite.seeded("conditions_make_no_heap_allocations", no_allocations)
}

const WARM_UP: u64 = 200;
const TICKS: u64 = 1000;

struct Always;

impl Condition for Always {
    fn check(&mut self, _: Timestamp) -> Answer {
        Answer::Ready
    }
}

/// Uses both handles in each tick.
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

/// Notes how many allocations this thread had made after the warm-up, and when it was last run.
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
        self.last = so_far();
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
    // The count works.
    check_equal(count(|| drop(std::hint::black_box(Box::new(7)))).0, 1)?;
    let platform = simulated(seed)?.0;
    let memory = platform.allocator("M", device(0), MemoryLimits::blocks(100, 1))?;
    let mut graph =
        Conditions::new(&platform, memory, AsyncHandle::new(), BooleanHandle::new(true))?;
    let report = graph.run()?;
    check_equal(report.ticks("sink"), Some(TICKS))?;
    let (warm, last) = (graph.sink().warm, graph.sink().last);
    check(warm > 0 && warm == last, || format!("{} allocations", last - warm))
}
