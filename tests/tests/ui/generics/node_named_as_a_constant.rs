// The node has the name of a constant parameter.
use streamflow::prelude::*;

graph! {
    /// A graph with a constant parameter.
    pub struct App<const LEN: usize> {
        let LEN: streamflow_tests::stereo::Counter = streamflow_tests::stereo::Counter::new();
        LEN.number >> _;
    }
}

fn main() {}
