// A harness of a graph gets an operator.
use streamflow::prelude::*;
use streamflow::testing::GraphHarness;
use streamflow_tests::stereo::Counter;

fn main() -> Result<()> {
    let mut harness = GraphHarness::new(&Platform::detect()?, Counter::new())?;
    harness.tick()?;
    Ok(())
}
