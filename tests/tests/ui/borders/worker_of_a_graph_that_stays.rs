// A worker is to run a graph with an operator that stays on the thread of the run.
use streamflow::prelude::*;
use streamflow_tests::stereo::Counter;

/// Shows numbers in a window.
#[operator(stays)]
struct Window {
    #[input]
    number: &u64,
}

impl Compute for Window {
    fn compute(&mut self, io: WindowIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.number.discard();
        Ok(())
    }
}

graph! {
    /// A graph with ports.
    pub struct Part {
        input number: &u64;
        let window: Window = Window::new();
        number >> window.number;
    }
}

graph! {
    /// An application.
    pub struct App {
        let counter: Counter = Counter::new();
        #[worker(disk)]
        let part: Part = Part::new();
        counter.number >> part.number;
    }
}

fn main() -> Result<()> {
    let mut app = App::new(&Platform::detect()?)?;
    app.run()?;
    Ok(())
}
