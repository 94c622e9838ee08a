// An interface has no parameters.
use streamflow::prelude::*;

operator_interface! {
    /// A source.
    pub trait Source<T> {
        output number: u64;
    }
}

fn main() {}
