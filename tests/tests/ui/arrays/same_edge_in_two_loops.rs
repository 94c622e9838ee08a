// Two loops have the same edge.
use streamflow::prelude::*;

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
    /// An application.
    pub struct App {
        let ones: [Ones; 3] = |_| Ones::new();
        let sums: Sum = Sum::new();
        for i in 0..3 {
            ones[i].one >> sums.numbers;
        }
        for i in 1..2 {
            ones[i].one >> sums.numbers;
        }
        sums.sum >> _;
    }
}

fn main() -> Result<()> {
    let mut app = App::new(&Platform::detect()?)?;
    app.run()?;
    Ok(())
}
