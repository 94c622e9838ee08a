// A node inside of the graph skips failed ticks, and the graph is in a cycle.
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
        input back: &u64;
        output sum: u64;
        #[on_failure(skip)]
        let sums: Sum = Sum::new();
        let more: Sum = Sum::new();
        back >> more.numbers;
        more.sum >> sums.numbers;
        one >> sums.numbers;
        sums.sum >> sum;
    }
}

/// A source of ones.
#[operator]
struct Ones {
    #[output]
    one: u64,
}

impl Compute for Ones {
    fn compute(&mut self, io: OnesIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.one.emit(1)
    }
}

graph! {
    /// An application.
    pub struct App {
        let ones: Ones = Ones::new();
        let part: Part = Part::new();
        ones.one >> part.one;
        #[feedback(initial = 0)]
        part.sum >> part.back;
    }
}

fn main() -> Result<()> {
    let mut app = App::new(&Platform::detect()?)?;
    app.run()?;
    Ok(())
}
