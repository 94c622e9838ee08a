// Two inputs of the graph lead to one input inside.
use streamflow::prelude::*;

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
        input other: &u64;
        output sum: u64;
        let sums: Sum = Sum::new();
        one >> sums.numbers;
        other >> sums.numbers;
        sums.sum >> sum;
    }
}

fn main() {}
