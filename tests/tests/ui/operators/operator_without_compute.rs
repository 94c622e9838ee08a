use streamflow::prelude::*;
use streamflow::testing::OperatorHarness;

#[operator]
pub struct Source {
    #[output]
    count: u64,
}

fn main() -> Result<()> {
    OperatorHarness::new(&Platform::detect()?, Source::new())?;
    Ok(())
}
