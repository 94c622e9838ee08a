// The type of an operator's ports, by its name.
use streamflow::operator::Operator;
use streamflow::prelude::*;
use streamflow::testing::OperatorHarness;

#[operator]
pub struct Sum {
    #[input]
    a: u64,
    #[input]
    b: u64,
    #[output]
    sum: u64,
}

impl Compute for Sum {
    fn compute(&mut self, io: SumIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.sum.emit(io.a.receive().into_data() + io.b.receive().into_data())
    }
}

type Ports = <Sum as Operator>::Ports;

fn main() -> Result<()> {
    let mut harness = OperatorHarness::new(&Platform::host().build()?, Sum::new())?;
    harness.push(|ports: &mut Ports| &mut ports.a, 1)?;
    harness.push(|ports: &mut Ports| &mut ports.b, 2)?;
    assert!(harness.tick()?);
    let sum = harness.take(|ports: &mut Ports| &mut ports.sum);
    assert_eq!(sum.map(|sum| *sum.message), Some(3));
    Ok(())
}
