// A worker for an operator that stays on the thread of the run.
use streamflow::prelude::*;
use streamflow_tests::stereo::Counter;

#[operator(stays)]
pub struct Window {
    #[input]
    number: u64,
}

impl Compute for Window {
    fn compute(&mut self, io: WindowIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.number.discard();
        Ok(())
    }
}

graph! {
    pub struct Workers {
        #[worker(disk)]
        let counter: Counter = Counter::new();
        #[worker(screen)]
        let window: Window = Window::new();

        counter.number >> window.number;
    }
}

fn main() {}
