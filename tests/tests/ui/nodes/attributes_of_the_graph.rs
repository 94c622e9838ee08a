// Attributes that a graph can't have: misspelt ones, and those of nodes, edges, operators and other crates.
use streamflow::prelude::*;
use streamflow_tests::stereo::Counter;

graph! {
    #[replays]
    #[whn(count(3))]
    #[scheduler(greedy)]
    #[streams(GPU)]
    #[capacity(4)]
    #[operator]
    #[streamflow::kernel]
    #[periodic(1ms)]
    #[derive(Debug, Clone)]
    #[allow(unused)]
    #[rustfmt::skip]
    pub struct App {
        let counter: Counter = Counter::new();
        counter.number >> _;
    }
}

fn main() {}
