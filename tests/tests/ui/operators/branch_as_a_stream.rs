// A stream with the name of the field that has the branches.
use streamflow::prelude::*;

#[operator(streams(branch))]
struct Route {
    #[input]
    n: &u64,
    #[output(branch)]
    large: u64,
    #[output(branch)]
    small: u64,
}

impl Compute for Route {
    fn compute(&mut self, io: RouteIo<'_>, _: &ExecutionContext) -> Result<()> {
        let n = *io.n.receive().into_data();
        io.branch.large().emit(n)
    }
}

fn main() {}
