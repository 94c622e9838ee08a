// The program passes a value of another type than the parameter of the graph inside.
use streamflow::prelude::*;
use streamflow_tests::stereo::Counter;

graph! {
    /// A graph with ports.
    pub struct Part(first: u64) {
        input number: &u64;
        let list: List = List::new(first);
        number >> list.number;
    }
}

/// Adds numbers.
#[operator]
struct List {
    #[input]
    number: &u64,
    sum: u64,
}

impl Compute for List {
    fn compute(&mut self, io: ListIo<'_>, _: &ExecutionContext) -> Result<()> {
        self.sum += io.number.receive().into_data();
        Ok(())
    }
}

graph! {
    /// An application.
    pub struct App {
        let counter: Counter = Counter::new();
        let part: Part = Part::new("one");
        counter.number >> part.number;
    }
}

fn main() -> Result<()> {
    let mut app = App::new(&Platform::detect()?)?;
    app.run()?;
    Ok(())
}
