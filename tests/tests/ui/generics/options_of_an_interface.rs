// The input of an interface has no options.
use streamflow::prelude::*;

operator_interface! {
    /// A sink.
    pub trait Sink {
        input(many) number: &u64;
    }
}

fn main() {}
