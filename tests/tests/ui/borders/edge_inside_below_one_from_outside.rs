// The edge inside stands below the one from outside, which is the last of the input.
use streamflow::prelude::*;
use streamflow_tests::stereo::Counter;

/// Sums numbers.
#[operator]
struct Sum {
    #[input(many)]
    numbers: &u64,
    #[output]
    sum: u64,
}

impl Compute for Sum {
    fn compute(&mut self, io: SumIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.sum.emit(io.numbers.receive().into_data().sum())
    }
}

graph! {
    /// A graph with ports.
    pub struct Part {
        input one: &u64;
        output sum: u64;
        let sums: Sum = Sum::new();
        let counter: Counter = Counter::new();
        one >> sums.numbers;
        counter.number >> sums.numbers;
        sums.sum >> sum;
    }
}

fn main() {}
