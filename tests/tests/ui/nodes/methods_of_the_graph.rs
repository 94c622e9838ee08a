// Nodes with the names of the methods that run a graph.
use streamflow::prelude::*;
use streamflow_tests::stereo::Counter;

graph! {
    pub struct App {
        let tick: Counter = Counter::new();
        let run_for: Counter = Counter::new();
        let end_run: Counter = Counter::new();
        let spawn: Counter = Counter::new();
        let workers: Counter = Counter::new();

        tick.number >> _;
        run_for.number >> _;
        end_run.number >> _;
        spawn.number >> _;
        workers.number >> _;
    }
}

fn main() {}
