// An operator with a single branch, so that a tick has nothing to choose.
use streamflow::prelude::*;

#[operator]
struct Threshold {
    #[input]
    n: &u64,
    #[output(branch)]
    large: u64,
    #[output]
    all: u64,
}

impl Compute for Threshold {
    fn compute(&mut self, io: ThresholdIo<'_>, _: &ExecutionContext) -> Result<()> {
        let n = *io.n.receive().into_data();
        if n > 100 {
            io.branch.large().emit(n)?;
        }
        io.all.emit(n)
    }
}

fn main() {}
