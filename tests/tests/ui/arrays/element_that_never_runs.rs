// No edge leads to the last element, whose inputs are all optional.
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

/// Adds the numbers that arrive.
#[operator]
struct Maybe {
    #[input(optional)]
    number: &u64,
    sum: u64,
}

impl Compute for Maybe {
    fn compute(&mut self, io: MaybeIo<'_>, _: &ExecutionContext) -> Result<()> {
        self.sum += io.number.receive().into_data().copied().unwrap_or_default();
        Ok(())
    }
}

graph! {
    /// An application.
    pub struct App {
        let ones: [Ones; 2] = |_| Ones::new();
        let maybes: [Maybe; 3] = |_| Maybe::new(0);
        for i in 0..2 {
            ones[i].one >> maybes[i].number;
        }
    }
}

fn main() -> Result<()> {
    let mut app = App::new(&Platform::detect()?)?;
    app.run()?;
    Ok(())
}
