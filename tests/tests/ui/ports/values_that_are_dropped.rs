// Values that lose something when they are dropped, or that have no effect before a further call: a description, a builder, a
// handle, a run, a copy, a future, a moment, a view, a proof, an operator in a harness.
#![deny(unused_must_use)]
use streamflow::memory::MemoryLimits;
use streamflow::operator::{AsyncHandle, BooleanHandle};
use streamflow::prelude::*;
use streamflow::schedule::Worker;
use streamflow::testing::OperatorHarness;

#[operator]
pub struct Counter {
    #[output]
    number: u64,
}

impl Compute for Counter {
    fn compute(&mut self, io: CounterIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.number.emit(cx.tick())
    }
}

graph! {
    pub struct App {
        let counter: Counter = Counter::new();
        counter.number >> _;
    }
}

pub fn described() {
    MemoryLimits::unbounded();
    Worker::new();
}

pub fn held(platform: &Platform) -> Result<()> {
    Platform::builder();
    Platform::host();
    BooleanHandle::new(true);
    AsyncHandle::new();
    App::new(platform)?.spawn()?;
    OperatorHarness::new(platform, Counter::new())?;
    Ok(())
}

pub fn in_a_tick(cx: &ExecutionContext, stream: &Stream<'_>, data: &Tensor<f32>) -> Result<()> {
    stream.download(data)?;
    stream.download(data)?.into_future();
    stream.record_timing()?;
    data.view();
    cx.synchronize_streams([], stream)?;
    Ok(())
}

fn main() {}
