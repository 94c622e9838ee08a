//! Runs a graph once, with one mutation or without.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use streamflow::driver::Driver;
use streamflow::driver::host::HostDriver;
use streamflow::driver::replay::Replaying;
use streamflow::graph::Graph;
use streamflow::memory::MemoryOptions;
use streamflow::prelude::*;
use streamflow::schedule::Workers;
use streamflow::testing::Explorer;
use streamflow_driver::driver::race::RaceChecker;
use streamflow_examples::seed_app;
use streamflow_examples::seed_graph::CudaStreamApp;
use streamflow_tests::check_close;
use streamflow_tests::layers::Mutate;
use streamflow_tests::layers::mutate::{Declaration, Dependency, Dropped, Log, declarations};
use streamflow_tests::ordered::MEMORY;

use super::build::{build, scheduled};
use super::nested;
use super::operators::WRONG;
use super::plan::{Plan, TICKS};
use super::threads::Threads;

/// A program whose dependencies are dropped.
#[derive(Debug, Clone)]
pub(crate) enum Subject {
    /// The application of NVIDIA's CudaStreamPool example.
    CudaStreamApp,
    Plan(Plan),
    /// A program of host threads, without a graph.
    Threads(Threads),
}

impl Subject {
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::CudaStreamApp => "the CudaStreamPool example's application",
            Self::Plan(plan) => &plan.name,
            Self::Threads(threads) => threads.name,
        }
    }

    /// Returns how many devices the program needs.
    pub(crate) fn devices(&self) -> usize {
        match self {
            Self::Plan(plan) if !plan.far.is_empty() => 2,
            _ => 1,
        }
    }

    /// How often its sources tick.
    fn ticks(&self) -> usize {
        match self {
            Self::CudaStreamApp => TICKS,
            Self::Plan(plan) => plan.ticks,
            Self::Threads(_) => TICKS,
        }
    }

    fn memory(&self) -> MemoryOptions {
        match self {
            Self::CudaStreamApp | Self::Threads(_) => MEMORY,
            Self::Plan(plan) => plan.memory,
        }
    }

    /// Runs it. Wrong data is an error that begins with [`WRONG`]. `end` is called when all work is complete, before
    /// any memory or stream is returned.
    fn run(
        &self,
        ticks: usize,
        workers: Option<usize>,
        platform: &Platform,
        layer: &Mutate,
        end: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        let workers = workers.map_or(Workers::none(), Workers::new);
        let _held;
        let mut graph: Box<dyn Graph> = match self {
            Self::CudaStreamApp => scheduled(seed_application(ticks, platform)?, workers)?,
            Self::Plan(plan) => match plan.shape {
                None => scheduled(build(plan, ticks, platform)?, workers)?,
                Some(shape) => {
                    let (graph, held) = nested::build((plan, shape), ticks, workers, platform)?;
                    _held = held;
                    graph
                }
            },
            Self::Threads(threads) => return threads.run(ticks, platform, layer, end),
        };
        let done = streamflow::__private::run(&mut *graph);
        Ok(done.and(Ok(end()?))?)
    }
}

fn seed_application(ticks: usize, platform: &Platform) -> Result<CudaStreamApp> {
    const ROWS: usize = 2;
    const COLS: u32 = 3;
    let reference = seed_app::reference(ROWS, COLS);
    let report = Box::new(move |_, row: &[f32]| {
        let tolerance = |expected| seed_app::tolerance(COLS) * expected;
        let close = check_close(row, &reference, tolerance);
        close.map_err(|error| Failure::msg(format!("{WRONG}: {error}")))
    });
    Ok(CudaStreamApp::new(platform, ROWS, COLS, ticks as u64, false, report)?)
}

/// The dependency or declaration that is dropped.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Mutation {
    Dependency(Dependency),
    Declaration(Declaration),
}

impl fmt::Display for Mutation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dependency(dependency) => dependency.fmt(f),
            Self::Declaration(declaration) => declaration.fmt(f),
        }
    }
}

/// What a run has shown.
#[derive(Debug, Default)]
pub(crate) struct Run {
    /// Whether the race checker reported a race.
    pub(crate) reported: bool,
    /// Whether the data was wrong.
    pub(crate) wrong: bool,
    /// The text of any other error.
    pub(crate) failed: Option<String>,
    /// Whether work was still queued when the run had returned.
    pub(crate) left: bool,
    /// How many dependencies the mutation dropped.
    pub(crate) times: u64,
    /// The dropped calls and declarations, by number.
    pub(crate) dropped: Dropped,
    /// The dependencies that a mutation can drop, by name. Without notes there are no names, so the list and the log are
    /// empty.
    pub(crate) dependencies: BTreeSet<Dependency>,
    pub(crate) declarations: BTreeSet<Declaration>,
    pub(crate) log: Log,
}

/// How a run is to be made.
#[derive(Clone, Copy)]
pub(crate) struct Trial<'a> {
    pub(crate) subject: &'a Subject,
    pub(crate) mutation: Option<&'a Mutation>,
    pub(crate) ticks: usize,
    /// Whether a race checker is below, and its reports fail the run.
    pub(crate) checked: bool,
    /// If set, the layer accepts no notes, as in a program without a checker, and drops by number what an earlier run
    /// under the same seed has dropped.
    pub(crate) unwatched: Option<&'a Dropped>,
    /// The workers, taking turns in an order that the seed draws; `None` for the greedy scheduler.
    pub(crate) workers: Option<usize>,
}

impl<'a> Trial<'a> {
    /// Creates a trial without a mutation, with the race checker.
    pub(crate) fn new(subject: &'a Subject, workers: Option<usize>) -> Self {
        let ticks = subject.ticks();
        Self { subject, mutation: None, ticks, checked: true, unwatched: None, workers }
    }

    /// Runs it under a seed.
    pub(crate) fn seeded(self, seed: u64) -> Run {
        if self.workers.is_none() {
            let host = HostDriver::builder().devices(self.subject.devices()).seed(seed).build();
            return self.on(Arc::new(Replaying::new(host)));
        }
        let explorer = Explorer::new().devices(self.subject.devices()).first_seed(seed).seeds(1);
        let mut run = None;
        let explored = explorer.race_check(false).run(|platform| {
            run = Some(self.on(platform.driver().clone()));
            Ok(())
        });
        let failed = explored.and_then(|explored| explored.check()).err();
        let mut run = run.unwrap_or_default();
        run.failed = failed.map(|error| error.to_string()).or(run.failed);
        run
    }

    fn with(self, layer: &Arc<Mutate>, end: impl FnOnce() -> Result<()>) -> Result<()> {
        // The race checker lies below the layer that drops dependencies.
        let builder = Platform::builder().memory(self.subject.memory()).race_check(false);
        let platform = builder.driver(layer.clone())?;
        self.subject.run(self.ticks, self.workers, &platform, layer, end)
    }

    /// Runs it on a driver.
    pub(crate) fn on(self, host: Arc<dyn Driver>) -> Run {
        let below = if self.checked { Arc::new(RaceChecker::new(host)) } else { host };
        let (dependency, declaration) = match self.mutation {
            Some(Mutation::Dependency(dependency)) => (Some(dependency.clone()), None),
            Some(Mutation::Declaration(declaration)) => (None, Some(declaration)),
            None => (None, None),
        };
        let mut left = false;
        let ((done, layer, dropped), declarations, misdeclared) = declarations(declaration, || {
            let layer = Mutate::new(below, dependency);
            let layer = if self.checked { layer } else { layer.quiet() };
            let layer = Arc::new(match self.unwatched {
                Some(dropped) => layer.unwatched(dropped),
                None => layer,
            });
            let done = self.with(&layer, || {
                layer.end();
                left = !layer.is_idle()?;
                Ok(())
            });
            let dropped = layer.dropped();
            (done, layer, dropped)
        });
        let (mut reported, mut wrong, mut failed) = (false, false, None);
        if let Err(failure) = done {
            visit(&failure.into(), &mut |error| match error {
                Error::Races(_) => reported = true,
                Error::Other(text) if text.to_string().starts_with(WRONG) => wrong = true,
                other => failed = Some(other.to_string()),
            });
        }
        let times = layer.times() + misdeclared;
        let found = Run { reported, wrong, failed, left, times, dropped, ..Run::default() };
        if self.unwatched.is_some() {
            return found;
        }
        let (dependencies, log) = (layer.dependencies(), layer.take_log());
        Run { dependencies, declarations, log, ..found }
    }
}

/// Calls `show` for each error that does not wrap others.
fn visit(error: &Error, show: &mut impl FnMut(&Error)) {
    match error {
        Error::Run { cause, followed } => {
            visit(cause, show);
            followed.iter().for_each(|error| visit(error, show));
        }
        Error::Operator { cause, .. } => visit(&cause.clone().into(), show),
        other => show(other),
    }
}
