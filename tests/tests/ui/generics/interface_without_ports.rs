// An interface has a port.
use streamflow::prelude::*;

operator_interface! {
    /// A source.
    pub trait Source {}
}

fn main() {}
