// An input that is received, and an output that is sent, on another thread.
use streamflow::prelude::*;

#[operator]
struct Double {
    #[input]
    number: u64,
    #[output]
    doubled: u64,
}

impl Compute for Double {
    fn compute(&mut self, io: DoubleIo<'_>, _: &ExecutionContext) -> Result<()> {
        let DoubleIo { number, doubled } = io;
        on_another_thread(|| {
            let _ = number.receive().into_data();
        });
        on_another_thread(|| {
            let _ = doubled.emit(2);
        });
        Ok(())
    }
}

fn on_another_thread(call: impl FnOnce() + Send) {
    std::thread::scope(|scope| {
        scope.spawn(call);
    });
}

fn main() {}
