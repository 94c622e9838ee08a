use streamflow::prelude::*;

#[derive(Clone)]
#[operator]
pub struct Sink {
    #[input]
    count: u64,
    limit: u64,
}

fn main() {}
