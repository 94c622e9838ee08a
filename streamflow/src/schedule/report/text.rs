//! The text of a report: tables of nodes, edges and times, and lines about facts that a user should look into.

use std::fmt;

use super::{DropReason, Dropped, End, Mixed, NodeReport, PathReport, Report, StoppedBy};
use crate::message::QueuePolicy;
use crate::param::ParamChange;
use crate::schedule::times::{self, Table};

/// Writes the report as tables.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.end {
            End::NotYet => writeln!(f, "the run goes on; so far")?,
            end => writeln!(f, "the run ended: {end}")?,
        }
        writeln!(f, "elapsed: {}{}", times::short(self.elapsed), self.of_times())?;
        let names = self.nodes.iter().map(|node| node.name.len());
        let edges = self.dropped.iter().map(|dropped| dropped.edge.len());
        let parameters = self.parameters.iter().map(|of| of.node.len() + 1 + of.parameter.len());
        let least = ["parameter".len()].into_iter().filter(|_| !self.parameters.is_empty());
        let flushed = || self.nodes.iter().filter(|node| node.flush_ticks > 0 || node.unflushed);
        let heading = flushed().next().map(|_| "flush of".len());
        let width = names
            .chain(heading)
            .chain(edges)
            .chain(parameters)
            .chain(least)
            .chain(["node".len()])
            .max()
            .unwrap_or_default();
        writeln!(f, "{:width$}  {:>12}  {:>9}", "node", "ticks", "ticks/s")?;
        for NodeReport { name, ticks, .. } in &self.nodes {
            let rate = self.rate(*ticks).map_or_else(|| "-".to_owned(), times::rate);
            writeln!(f, "{name:width$}  {ticks:>12}  {rate:>9}")?;
        }
        for NodeReport { name, missed_periods, .. } in &self.nodes {
            if *missed_periods > 0 {
                writeln!(f, "{name:width$}  {missed_periods:>12}  missed period(s)")?;
            }
        }
        if heading.is_some() {
            writeln!(f, "{:width$}  {:>12}", "flush of", "ticks")?;
        }
        for NodeReport { name, flush_ticks, unflushed, .. } in flushed() {
            let lost =
                if *unflushed { "  not to its end: what the node held back is lost" } else { "" };
            writeln!(f, "{name:width$}  {flush_ticks:>12}{lost}")?;
        }
        let failed = || self.nodes.iter().filter(|node| node.failures > 0);
        // There is a column of restarts if a node has failed that may be restarted.
        let column = |text: String| match failed().any(|node| node.has_restart) {
            true => format!("  {text:>8}"),
            false => String::new(),
        };
        if failed().next().is_some() {
            let restarts = column("restarts".into());
            writeln!(f, "{:width$}  {:>12}{restarts}  first failure", "failures of", "")?;
        }
        for NodeReport { name, failures, restarts, has_restart, first_failure, .. } in failed() {
            let first = first_failure.as_deref().unwrap_or_default();
            let restarts = if *has_restart { restarts.to_string() } else { String::new() };
            let restarts = column(restarts);
            writeln!(f, "{name:width$}  {failures:>12}{restarts}  {first}")?;
        }
        let silent = self.nodes.iter().filter(|node| !node.silent_outputs.is_empty());
        for NodeReport { name, ticks, silent_outputs, .. } in silent {
            let outputs: Vec<_> =
                silent_outputs.iter().map(|output| format!("`{output}`")).collect();
            let outputs = outputs.join(", ");
            writeln!(f, "{name:width$}  {ticks:>12}  tick(s) without `emit` on {outputs}")?;
        }
        if !self.dropped.is_empty() {
            writeln!(f, "{:width$}  {:>12}  {:>9}  because", "edge", "dropped", "of sent")?;
        }
        for Dropped { edge, messages, reason } in &self.dropped {
            let sent = self.edge(edge).map_or(*messages, |edge| edge.sent);
            writeln!(f, "{edge:width$}  {messages:>12}  {sent:>9}  {reason}")?;
        }
        if !self.mixed.is_empty() {
            writeln!(f, "{:width$}  {:>12}  first pair", "mixed", "ticks")?;
        }
        for Mixed { node, ticks, source, inputs, sequences } in &self.mixed {
            let ([one, other], [of_one, of_other]) = (inputs, sequences);
            writeln!(
                f,
                "{node:width$}  {ticks:>12}  `{one}` had number {of_one} of `{source}`, and `{other}` had {of_other} \
                 (`#[when(same_sequence)]` waits for partners)"
            )?;
        }
        if !self.waited.is_empty() {
            writeln!(f, "as timing decided, these waited at the end:")?;
        }
        for chain in &self.waited {
            writeln!(f, "  {chain}")?;
        }
        if !self.parameters.is_empty() {
            writeln!(f, "{:width$}  {:>12}  value", "parameter", "from tick")?;
        }
        for ParamChange { node, parameter, tick, value } in &self.parameters {
            writeln!(f, "{:width$}  {tick:>12}  {value}", format!("{node}.{parameter}"))?;
        }
        if self.parameters_omitted > 0 {
            writeln!(f, "{} earlier changes of parameters are left out", self.parameters_omitted)?;
        }
        if let Some(replay) = &self.replay {
            writeln!(f, "{replay}")?;
        }
        let of = match self {
            Self { simulated_time: true, .. } => ", simulated",
            Self { simulated_device: true, .. } => ", simulated device",
            _ => "",
        };
        times::write(f, &self.times(), of)?;
        if self.unmeasured > 0 {
            writeln!(f, "{} message(s) arrived on paths that were not measured", self.unmeasured)?;
        }
        Ok(())
    }
}

impl Report {
    /// Returns a suffix for the titles of tables. It says which of the clock and the devices are simulated.
    fn of_times(&self) -> &'static str {
        match (self.simulated_time, self.simulated_device) {
            (true, true) => "; all times are simulated time, on the host simulator",
            (true, false) => "; all times are simulated time",
            (false, true) => "; all times are of the host simulator, and not of a GPU",
            (false, false) => "",
        }
    }

    /// Returns the tables of host times, latenesses and latencies.
    fn times(&self) -> [Table<'_>; 3] {
        let nodes = self.nodes.iter();
        let row = |node: &NodeReport| node.name.clone();
        let host_time =
            nodes.clone().filter_map(|node| Some((row(node), node.host_time.as_ref()?)));
        let lateness = nodes.filter_map(|node| Some((row(node), node.lateness.as_ref()?)));
        let path = |path: &PathReport| format!("{} → {}", path.source, path.sink);
        let latency = self.latency.iter().map(|found| (path(found), &found.summary));
        [
            ("host time of a tick", host_time.collect()),
            ("lateness of a tick", lateness.collect()),
            ("latency of a path", latency.collect()),
        ]
    }
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SourcesDone => write!(f, "all sources are done"),
            Self::Finished { nodes } => {
                write!(f, "finished by themselves: {}", quoted(nodes))
            }
            Self::Stopped { by: StoppedBy::StopGraph(node) } => {
                write!(f, "`{node}` stopped the graph")
            }
            Self::Stopped { by: StoppedBy::Handle } => write!(f, "its handle stopped it"),
            Self::Stopped { by: StoppedBy::CtrlC } => write!(f, "Ctrl-C stopped it"),
            Self::Stopped { by: StoppedBy::Signal(name) } => write!(f, "{name} stopped it"),
            Self::Stopped { by: StoppedBy::EndRun } => write!(f, "the program called `end_run`"),
            Self::TicksDone => write!(f, "the ticks of `run_for` are done"),
            Self::TimeOver => write!(f, "the time of `run_for` is over"),
            Self::NotYet => write!(f, "it has not ended"),
            Self::Failed { error } => write!(f, "by an error: {error}"),
        }
    }
}

fn quoted(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

impl fmt::Display for DropReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Policy(QueuePolicy::Pop) => write!(f, "policy `pop`"),
            Self::Policy(QueuePolicy::Reject) => write!(f, "policy `reject`"),
            Self::Policy(_) => write!(f, "its policy"),
            Self::GaveWay => write!(f, "the edge gave way, so that the run went on"),
            Self::Alone => write!(f, "`same_sequence`: without a partner"),
            Self::TickFailed => write!(f, "a tick of the consumer failed before it took them"),
            Self::RunEnded => write!(f, "the run ended"),
        }
    }
}
