// A graph has no lifetimes.
use streamflow::prelude::*;
use streamflow_tests::stereo::Counter;

graph! {
    /// A graph with a lifetime.
    pub struct App<'a>(name: &'a str) {
        let counter: Counter = { println!("{name}"); Counter::new() };
        counter.number >> _;
    }
}

fn main() {}
