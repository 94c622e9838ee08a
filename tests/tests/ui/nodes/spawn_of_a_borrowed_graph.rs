// `spawn` of what `workers` returns, which borrows the graph.
use streamflow::prelude::*;
use streamflow_tests::stereo::Counter;

graph! {
    pub struct App {
        let counter: Counter = Counter::new();
        counter.number >> _;
    }
}

fn main() -> Result<()> {
    let running = App::new(&Platform::detect()?)?.workers(4)?.spawn()?;
    running.stop();
    running.join()?;
    Ok(())
}
