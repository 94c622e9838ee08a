// A port with the name of the field that has the branches.
use streamflow::prelude::*;

#[operator]
struct Route {
    #[input]
    branch: &u64,
    #[output(branch)]
    large: u64,
    #[output(branch)]
    small: u64,
}

impl Compute for Route {
    fn compute(&mut self, io: RouteIo<'_>, _: &ExecutionContext) -> Result<()> {
        let n = *io.branch.receive().into_data();
        io.branch.large().emit(n)
    }
}

fn main() {}
