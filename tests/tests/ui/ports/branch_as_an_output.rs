// A branch that is used as a field of the Io.
use streamflow::prelude::*;

#[operator]
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
        match n {
            n if n > 100 => io.large.emit(n),
            n => io.branch.small().emit(n),
        }
    }
}

fn main() {}
