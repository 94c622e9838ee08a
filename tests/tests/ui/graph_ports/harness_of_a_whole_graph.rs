// A harness of a graph gets a graph without ports.
use streamflow::prelude::*;
use streamflow::testing::GraphHarness;
use streamflow_tests::stereo::Counter;

graph! {
    struct App {
        let counter: Counter = Counter::new();
        counter.number >> _;
    }
}

fn main() -> Result<()> {
    let platform = Platform::detect()?;
    let mut harness = GraphHarness::new(&platform, App::new(&platform)?)?;
    harness.tick()?;
    Ok(())
}
