// The edges of a loop stand below the one from outside, which is the last of the input.
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
        let sums: [Sum; 2] = |_| Sum::new();
        let counter: Counter = Counter::new();
        one >> sums[0].numbers;
        for i in 0..2 {
            counter.number >> sums[i].numbers;
        }
        sums[0].sum >> sum;
        sums[1].sum >> _;
    }
}

fn main() {}
