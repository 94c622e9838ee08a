// A node whose type is not an operator.
use streamflow::prelude::*;

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

pub struct NotOp;

graph! {
    pub struct Wrong {
        let counter: Counter = Counter::new();
        let show: NotOp = NotOp;
        counter.number >> show.image;
    }
}

fn main() {}
