// The ports of an interface end with a semicolon.
use streamflow::prelude::*;

operator_interface! {
    /// A sink.
    pub trait Sink {
        input number: &u64,
        output sum: u64;
    }
}

fn main() {}
