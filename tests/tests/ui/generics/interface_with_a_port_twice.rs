// Two ports of the interface have one name.
use streamflow::prelude::*;

operator_interface! {
    /// A source.
    pub trait Source {
        output number: u64;
        input number: &u64;
    }
}

fn main() {}
