// Names of the graph's own struct, keywords, and one name in two spellings.
use streamflow::prelude::*;
use streamflow_tests::stereo::Counter;

graph! {
    pub struct App {
        let __sized: Counter = Counter::new();
        let __streamflow: Counter = Counter::new();
        let diagram: Counter = Counter::new();
        let self: Counter = Counter::new();
        let counter: Counter = Counter::new();
        let r#counter: Counter = Counter::new();

        __sized.number >> _;
        __streamflow.number >> _;
        diagram.number >> _;
        counter.number >> _;
    }
}

fn main() {}
