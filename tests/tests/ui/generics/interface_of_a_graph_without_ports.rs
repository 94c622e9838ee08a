// A graph without ports implements no interface.
use streamflow::prelude::*;
use streamflow_tests::stereo::{Counter, FrameSource};

graph! {
    /// An application.
    #[implements(FrameSource)]
    pub struct App {
        let counter: Counter = Counter::new();
        counter.number >> _;
    }
}

fn main() {}
