// The port of the interface has a type that is no message.
use std::sync::Mutex;

use streamflow::prelude::*;

operator_interface! {
    /// A source.
    pub trait Source {
        output number: Mutex<u64>;
    }
}

fn main() {}
