use streamflow::prelude::*;

#[operator(streams(self))]
pub struct Count {
    #[output]
    self: u64,
}

fn main() {}
