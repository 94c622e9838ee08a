//! The common trait of a workload's forms (graph or program by hand), and the form that is a graph.

use std::sync::Arc;
use std::time::Instant;

use streamflow::Element;
use streamflow::prelude::*;
use streamflow::schedule::Stepped;
use streamflow_driver::driver::replay::ReplayReport;

use crate::expect::Expected;
use crate::graphs::{self, Any, AnyGraph};
use crate::run::{Run, Seconds};
use crate::workloads::{Mode, Work, Workload};

/// How many unmeasured ticks a turn runs first. Objects that are made once are made in these ticks.
pub(crate) const WARM: u64 = 2;

/// One implementation of a workload: a graph in some mode, or a program by hand.
pub(crate) trait Form {
    fn name(&self) -> &str;

    /// Runs [`WARM`] ticks and then `ticks` that are measured. `salt` distinguishes the values of this turn.
    fn batch(&mut self, salt: u32, ticks: u64) -> Result<Seconds>;

    /// Measures single ticks. Returns for each the seconds until its results are on the host.
    fn latencies(&mut self, salt: u32, ticks: u64) -> Result<Vec<f64>>;

    /// Compares the results of the last tick with the results that the host computes.
    fn check(&mut self) -> Result<()>;

    /// Returns the report of replay in the last batch; `None` for a form that is not replayed.
    fn replay(&self) -> Option<&ReplayReport> {
        None
    }

    /// Runs the program without its waits, and returns whether its results are wrong, as they must be. Returns `None` if
    /// the form has no such variant.
    fn is_wrong_without_order(&mut self, _salt: u32) -> Result<Option<bool>> {
        Ok(None)
    }
}

/// A workload as a graph of streamflow.
struct Streamed<T: Element> {
    name: &'static str,
    graph: Box<dyn AnyGraph>,
    run: Arc<Run<T>>,
    expected: Expected,
    /// The report of replay in the last batch.
    replay: Option<ReplayReport>,
}

/// Makes a workload's graph, run in the given mode.
pub(crate) fn streamed(
    platform: &Platform,
    workload: &Workload,
    mode: &Mode,
) -> Result<Box<dyn Form>> {
    let (name, pool) = (mode.name, (mode.pool)());
    let expected = Expected::new(&workload.work);
    Ok(match &workload.work {
        Work::Seed(shape) => {
            let run = Arc::new(Run::<f32>::new(workload.kernels()));
            let seed = graphs::Seed::new(platform, pool, *shape, run.clone())?;
            let graph = replayed(Box::new(Any::new(seed)), mode);
            Box::new(Streamed { name, graph, run, expected, replay: None })
        }
        Work::Tasks { make, kernels, .. } => {
            let run = Arc::new(Run::<u32>::new(*kernels));
            let graph = replayed(make(platform, pool, &run)?, mode);
            Box::new(Streamed { name, graph, run, expected, replay: None })
        }
    })
}

fn replayed(mut graph: Box<dyn AnyGraph>, mode: &Mode) -> Box<dyn AnyGraph> {
    if mode.is_replayed {
        graph.set_replayed();
    }
    graph
}

impl<T: Element + Bits> Form for Streamed<T> {
    fn name(&self) -> &str {
        self.name
    }

    fn batch(&mut self, salt: u32, ticks: u64) -> Result<Seconds> {
        self.run.prepare(salt, Some(WARM - 1), WARM + ticks - 1);
        let report = streamflow::__private::run_for(self.graph.graph(), (WARM + ticks).into())?;
        self.replay = report.replay;
        self.run.seconds()
    }

    fn latencies(&mut self, salt: u32, ticks: u64) -> Result<Vec<f64>> {
        self.run.prepare(salt, None, WARM);
        let mut times = Vec::new();
        for tick in 0..WARM + ticks {
            let start = Instant::now();
            // One pass runs each node once, producers before consumers, so it is a whole tick of the graph.
            let stepped = streamflow::__private::tick(self.graph.graph())?;
            if stepped != Stepped::Ran {
                return Err(Failure::msg(format!("the pass of tick {tick}: {stepped:?}")));
            }
            if tick >= WARM {
                self.run.wait_for_tick_blocking(tick)?;
                times.push(start.elapsed().as_secs_f64());
            }
        }
        streamflow::__private::end_run(self.graph.graph())?;
        Ok(times)
    }

    fn replay(&self) -> Option<&ReplayReport> {
        self.replay.as_ref()
    }

    fn check(&mut self) -> Result<()> {
        let (number, results) = self.run.results_blocking()?;
        let results: Vec<_> =
            results.into_iter().map(|it| it.into_iter().map(T::bits).collect()).collect();
        self.expected.check(self.name, number, &results)
    }
}

/// A number type whose values are compared by their bits, so that the results of all workloads have one type.
pub(crate) trait Bits {
    fn bits(self) -> u32;
}

impl Bits for u32 {
    fn bits(self) -> u32 {
        self
    }
}

impl Bits for f32 {
    fn bits(self) -> u32 {
        self.to_bits()
    }
}
