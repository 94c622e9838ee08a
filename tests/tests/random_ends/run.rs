//! Runs a graph in one of many ways, and describes the run.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::atomic::Ordering;
use std::time::Duration;

use streamflow::graph::Graph;
use streamflow::prelude::*;
use streamflow::schedule::{EdgeReport, End, Report, Stepped, StoppedBy, Workers};
use streamflow::testing::Explorer;
use streamflow::time::Clock;
use streamflow::{Schedule, Spawn};
use streamflow_tests::built::Built;

use super::build::{build, counts, edge_name};
use super::operators::AS_PLANNED;
use super::plan::Plan;

/// How long a run may take whose threads take no turns.
const PATIENCE: Duration = Duration::from_secs(60);

/// How a graph is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// On one thread, by the greedy scheduler.
    Greedy,
    /// By calls of `tick`.
    Stepped,
    /// With this many workers, on threads that run freely.
    Workers(usize),
    /// With this many workers, which take turns in the order of a seed.
    Turns(usize, u64),
}

/// How a run has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Ended {
    /// Without an error. These nodes have ended by themselves.
    Well(BTreeSet<String>),
    /// With a stall. These nodes are stuck, or a stuck node waits for them.
    Stalled(BTreeSet<String>),
    /// With the planned failure of a tick.
    Failed,
    /// A node has stopped the graph, as planned, or because it has done more ticks than any node with an end does.
    Stopped,
    Other(String),
}

impl Ended {
    /// Whether a single tick has ended the run, wherever the other nodes were.
    pub(crate) fn is_abrupt(&self) -> bool {
        matches!(self, Self::Failed | Self::Stopped)
    }
}

/// An edge's messages, as the report counts them and as the operators have counted them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Messages {
    pub(crate) sent: u64,
    pub(crate) received: u64,
    pub(crate) dropped: u64,
    pub(crate) left: u64,
    /// The operators' counts of messages sent and received.
    pub(crate) counted: [u64; 2],
}

/// What a run has shown: how it ended, its ticks and its messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) ended: Ended,
    pub(crate) ticks: Vec<u64>,
    pub(crate) edges: Vec<Messages>,
}

impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { ended, ticks, edges } = self;
        write!(f, "{ended:?}, ticks {ticks:?}, messages:")?;
        for (index, messages) in edges.iter().enumerate() {
            let Messages { sent, received, dropped, left, counted } = messages;
            write!(
                f,
                "\n  {}: {sent} sent, {received} received, {dropped} dropped, {left} left; counted: {counted:?}",
                edge_name(index)
            )?;
        }
        Ok(())
    }
}

fn ended(done: Result<Report, Error>) -> Ended {
    match done {
        Ok(Report { end: End::SourcesDone, .. }) => Ended::Well(BTreeSet::new()),
        Ok(Report { end: End::Finished { nodes }, .. }) => Ended::Well(nodes.into_iter().collect()),
        Ok(Report { end: End::Stopped { by: StoppedBy::StopGraph(_) }, .. }) => Ended::Stopped,
        Ok(report) => Ended::Other(format!("{:?}", report.end)),
        Err(Error::Stalled { chains }) => {
            let links = chains.iter().flat_map(|chain| chain.split(" → "));
            let names = links.filter_map(|link| link.split('`').nth(1)).map(str::to_owned);
            Ended::Stalled(names.collect())
        }
        Err(error) => match error.to_string() {
            text if text.contains(AS_PLANNED) => Ended::Failed,
            text => Ended::Other(text),
        },
    }
}

/// Runs the graph once.
pub(crate) fn run(plan: &Plan, way: Way) -> Result<Seen, String> {
    let platform = || Platform::host().clock(&Clock::simulated()).build();
    let seen = match way {
        Way::Greedy | Way::Stepped | Way::Workers(_) => {
            platform().map_err(Failure::from).and_then(|platform| run_on(plan, way, &platform))
        }
        Way::Turns(_, seed) => {
            let mut seen = None;
            let found = Explorer::new().first_seed(seed).seeds(1).run(|platform| {
                seen = Some(run_on(plan, way, platform)?);
                Ok(())
            });
            let checked = found.and_then(|found| found.check()).map_err(Failure::from);
            checked.and_then(|()| seen.ok_or_else(|| Failure::msg("it was not run")))
        }
    };
    seen.map_err(|error| error.to_string())
}

fn run_on(plan: &Plan, way: Way, platform: &Platform) -> Result<Seen> {
    let counts = counts(plan);
    let mut graph = build(plan, &counts, platform)?;
    let (done, report) = match way {
        Way::Stepped => step(&mut graph)?,
        Way::Greedy => spawn(graph, Workers::none(), false)?,
        Way::Workers(workers) => spawn(graph, Workers::new(workers), false)?,
        Way::Turns(workers, _) => spawn(graph, Workers::new(workers), true)?,
    };
    let ended = ended(done);
    let mut seen = Seen { ended, ticks: Vec::new(), edges: Vec::new() };
    let Some(report) = report else { return Ok(seen) };
    let ticks = |node| report.ticks(&format!("n{node}")).unwrap_or_default();
    seen.ticks = (0..plan.nodes.len()).map(ticks).collect();
    for (index, edge) in plan.edges.iter().enumerate() {
        let found = report.edge(edge_name(index)).copied();
        let EdgeReport { sent, received, dropped, left, .. } =
            found.ok_or_else(|| Failure::msg("an edge is not in the report"))?;
        let counted = [
            counts[edge.from].sent[edge.out].load(Ordering::Relaxed)
                + u64::from(edge.is_feedback()),
            counts[edge.to].received[edge.port as usize].load(Ordering::Relaxed),
        ];
        let messages = Messages { sent, received, dropped, left, counted };
        seen.edges.push(messages);
    }
    Ok(seen)
}

type Done = (Result<Report, Error>, Option<Report>);

fn spawn(mut graph: Built, workers: Workers, takes_turns: bool) -> Result<Done> {
    graph.workers(workers)?;
    let mut running = graph.spawn()?;
    let handle = running.handle();
    if !takes_turns {
        let done = running.join_timeout(PATIENCE);
        if let Err(error @ Error::StillRunning { .. }) = done {
            return Err(error.into());
        }
        return Ok((done, Some(handle.report()?)));
    }
    let done = running.join();
    Ok((done, Some(handle.report()?)))
}

/// A stepped run that has not ended well has no report.
fn step(graph: &mut Built) -> Result<Done> {
    loop {
        match streamflow::__private::tick(graph) {
            Ok(Stepped::Over) => break,
            Ok(Stepped::Waiting { until: Some(until) }) => {
                let clock = graph.platform().clock();
                clock.advance(Duration::from_nanos(until.0.saturating_sub(clock.now().0)));
            }
            Ok(_) => {}
            Err(error) => return Ok((Err(error), None)),
        }
    }
    let done = streamflow::__private::end_run(graph);
    let report = done.as_ref().ok().cloned();
    Ok((done, report))
}
