//! A number of restarts and a wait of other types, and a parameter that can't be kept for a restart.

use std::time::Duration;

use streamflow::prelude::*;

#[operator]
struct Source {
    #[output]
    number: u64,
    next: Box<dyn FnMut() -> u64 + Send>,
}

impl Compute for Source {
    fn compute(&mut self, io: SourceIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.number.emit((self.next)())
    }
}

graph! {
    struct App(next: Box<dyn FnMut() -> u64 + Send>, other: Box<dyn FnMut() -> u64 + Send>) {
        #[on_failure(restart(3, Duration::from_millis(10)))]
        let a: Source = Source::new(next);
        #[on_failure(restart(0.5, "10 ms"))]
        let b: Source = Source::new(Box::new(|| 7));
        #[on_failure(skip)]
        let c: Source = Source::new(other);
        a.number >> _;
        b.number >> _;
        c.number >> _;
    }
}

fn main() {}
