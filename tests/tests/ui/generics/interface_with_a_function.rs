// An interface has ports, and no functions.
use streamflow::prelude::*;

operator_interface! {
    /// A source.
    pub trait Source {
        output number: u64;
        fn number(&self) -> u64;
    }
}

fn main() {}
