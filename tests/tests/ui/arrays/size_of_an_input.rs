// The loop leads more edges to the input than it takes.
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

/// Adds two numbers.
#[operator]
struct Pair {
    #[input(size = 2)]
    numbers: &u64,
    sum: u64,
}

impl Compute for Pair {
    fn compute(&mut self, io: PairIo<'_>, _: &ExecutionContext) -> Result<()> {
        self.sum += io.numbers.receive().into_data().iter().copied().sum::<u64>();
        Ok(())
    }
}

graph! {
    /// An application.
    pub struct App {
        let ones: [Ones; 3] = |_| Ones::new();
        let pairs: [Pair; 1] = |_| Pair::new(0);
        for i in 0..3 {
            ones[i].one >> pairs[0].numbers;
        }
    }
}

fn main() -> Result<()> {
    let mut app = App::new(&Platform::detect()?)?;
    app.run()?;
    Ok(())
}
