//! A node of a cycle can't go on after a failure: the message of the feedback edge is lost with the failed tick.
use streamflow::prelude::*;

#[operator]
struct Source {
    #[output]
    number: u64,
}

impl Compute for Source {
    fn compute(&mut self, io: SourceIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.number.emit(cx.tick())
    }
}

#[operator]
struct Sum {
    #[input]
    number: u64,
    #[input]
    before: u64,
    #[output]
    sum: u64,
}

impl Compute for Sum {
    fn compute(&mut self, io: SumIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.sum.emit(io.number.receive().into_data() + io.before.receive().into_data())
    }
}

#[operator]
struct Pass {
    #[input]
    sum: u64,
    #[output]
    again: u64,
}

impl Compute for Pass {
    fn compute(&mut self, io: PassIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.again.emit(io.sum.receive().into_data())
    }
}

graph! {
    struct Running() {
        #[on_failure(skip)]
        let source: Source = Source::new();
        #[on_failure(restart(3, 10ms))]
        let sum: Sum = Sum::new();
        #[on_failure(skip)]
        let pass: Pass = Pass::new();
        #[on_failure(stop)]
        let other: Pass = Pass::new();

        source.number >> sum.number;
        sum.sum >> pass.sum;
        pass.again >> other.sum;
        #[feedback(initial = 0)]
        other.again >> sum.before;
    }
}

fn main() {}
