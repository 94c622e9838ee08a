// A hook's context used on another thread.
use streamflow::prelude::*;

#[operator]
struct Counter {
    #[output]
    ticks: u64,
}

impl Compute for Counter {
    fn compute(&mut self, io: CounterIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.ticks.emit(on_another_thread(|| cx.tick()))
    }
}

fn on_another_thread(call: impl FnOnce() -> u64 + Send) -> u64 {
    std::thread::scope(|scope| scope.spawn(call).join().unwrap_or(0))
}

fn main() {}
