// An interface is a trait.
use streamflow::prelude::*;

operator_interface! {
    /// A source.
    pub struct Source {
        output number: u64;
    }
}

fn main() {}
