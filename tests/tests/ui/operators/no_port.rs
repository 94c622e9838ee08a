// An operator without a port.
use streamflow::prelude::*;

#[operator]
pub struct Idle {
    ticks: u64,
}

fn main() {}
