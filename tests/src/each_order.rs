//! Runs a graph in each order of its nodes that a scheduler may choose.

use streamflow::graph::Graph;
use streamflow::prelude::*;
use streamflow::schedule::{Report, Workers};
use streamflow::testing::Explorer;
use streamflow::time::Clock;

use crate::Failed;

/// Makes a graph and runs it several times in a row: on one thread, with workers, and with workers that take turns in the
/// order of a seed. `judge` gets the result of each run.
///
/// # Errors
/// Those of `make` and of `judge`.
pub fn in_each_order<G: Graph + Runs>(
    runs: usize,
    make: impl Fn(&Platform) -> Result<G, Error>,
    judge: impl Fn(&mut G, Result<Report, Error>) -> Result<(), Failed>,
) -> Result<(), Failed> {
    let run = |platform: &Platform, workers: Workers| {
        let mut graph = make(platform)?;
        graph.workers(workers)?;
        for _ in 0..runs {
            let done = graph.run_once();
            judge(&mut graph, done)?;
        }
        Ok(())
    };
    for workers in [Workers::none(), Workers::new(2), Workers::new(4)] {
        let platform = Platform::host().clock(&Clock::simulated()).build()?;
        run(&platform, workers)?;
    }
    let explored = Explorer::new().seeds(24).run(|platform| run(platform, Workers::new(2)))?;
    Ok(explored.check()?)
}

/// A graph with the method `run` that `graph!` writes.
pub trait Runs {
    /// Runs the graph.
    ///
    /// # Errors
    /// That of the run.
    fn run_once(&mut self) -> Result<Report, Error>;
}

/// Implements [`Runs`](crate::each_order::Runs) for graphs.
#[macro_export]
macro_rules! runs {
    ($($graph:ident),*) => {$(
        impl $crate::each_order::Runs for $graph {
            fn run_once(
                &mut self,
            ) -> ::std::result::Result<::streamflow::schedule::Report, ::streamflow::Error> {
                self.run()
            }
        }
    )*};
}
