//! The report of a run's replay.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// The number of passes in a row without an equal earlier pass after which replay is switched off.
const PATIENCE: u64 = 128;

/// The report of replay in a run of a graph with `#[replay]`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct ReplayReport {
    /// The passes of the scheduler that were replayed: launches of CUDA graphs took the place of the pass's calls.
    /// Without conditions that make nodes wait, a pass is a tick of each node.
    pub replayed: u64,
    /// The replayed passes with kernels that got other parameters than in the latest pass with the same graph.
    pub changed: u64,
    /// The passes in which all calls, or some, were sent to the device one by one.
    pub sent: u64,
    /// The passes with fewer than two launches, copies and fills between their queries: a graph saves nothing in such
    /// a pass.
    pub small: u64,
    /// The reasons why calls were sent one by one. Each such pass counts once, by its first reason; the number is that
    /// of its passes.
    pub broken_by: Vec<(Reason, u64)>,
    /// The reason why replay was off, from the beginning or from some pass on; `None` if replay was on.
    pub off: Option<Cow<'static, str>>,
}

/// The reason why the calls of a pass were sent one by one.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reason {
    /// The event, in words.
    pub what: &'static str,
    /// The node that made the call in a hook, if a node did.
    pub node: Option<Arc<str>>,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.node {
            Some(node) => write!(f, "{}, in `{node}`", self.what),
            None => write!(f, "{}", self.what),
        }
    }
}

impl fmt::Display for ReplayReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "replay: {} pass(es) replayed", self.replayed)?;
        if self.changed > 0 {
            write!(f, " ({} of them with other parameters)", self.changed)?;
        }
        write!(f, ", {} sent call by call", self.sent)?;
        if self.small > 0 {
            write!(f, ", {} too small to gain", self.small)?;
        }
        for (reason, passes) in &self.broken_by {
            write!(f, "\n  {passes:>10}  {reason}")?;
        }
        match &self.off {
            Some(why) => write!(f, "\n  off: {why}"),
            None => Ok(()),
        }
    }
}

/// The state of replay in one run, which the run's scheduler keeps between passes.
#[doc(hidden)]
#[derive(Debug, Default)]
pub struct ReplayRun {
    /// The nodes' names.
    pub(in crate::driver) nodes: Arc<[Arc<str>]>,
    /// The number of the run's first tick, once the run had a pass.
    pub(in crate::driver) first_tick: Option<u64>,
    replayed: u64,
    changed: u64,
    sent: u64,
    small: u64,
    broken_by: Vec<(&'static str, Option<u32>, u64)>,
    pub(in crate::driver) off: Option<Cow<'static, str>>,
    /// The number of passes in a row in which no graph was launched.
    in_vain: u64,
    /// Whether the run has been counted among the runs that replay.
    pub(in crate::driver) has_begun: bool,
    pub(in crate::driver) is_in_pass: bool,
    pub(in crate::driver) is_eager: bool,
}

/// The outcome of a pass.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::driver) struct PassDone {
    /// Whether the pass made calls that can be replayed.
    pub(in crate::driver) has_work: bool,
    /// Whether a graph was launched.
    pub(in crate::driver) launched: bool,
    /// Whether kernels of a graph got other parameters.
    pub(in crate::driver) changed: bool,
    /// The reason why calls were sent one by one, and the node of the call.
    pub(in crate::driver) broken: Option<(&'static str, Option<u32>)>,
}

impl ReplayRun {
    /// Creates the state for a run of the nodes with these names.
    #[doc(hidden)]
    pub fn new(nodes: impl Iterator<Item = Arc<str>>) -> Self {
        Self { nodes: nodes.collect(), ..Self::default() }
    }

    /// Requests that a graph is made of each segment of calls, even when the segment occurs for the first time.
    #[doc(hidden)]
    pub fn set_eager(&mut self) {
        self.is_eager = true;
    }

    /// Switches replay off for the remaining passes of the run. Of several reasons, the first is stored.
    #[doc(hidden)]
    pub fn switch_off(&mut self, why: impl Into<Cow<'static, str>>) {
        self.off.get_or_insert_with(|| why.into());
    }

    /// Whether replay is switched off.
    #[doc(hidden)]
    pub fn is_off(&self) -> bool {
        self.off.is_some()
    }

    /// Whether a pass of this run has begun and not ended.
    #[doc(hidden)]
    pub fn is_in_pass(&self) -> bool {
        self.is_in_pass
    }

    pub(in crate::driver) fn note(&mut self, done: PassDone) {
        if !done.has_work {
            return;
        }
        self.in_vain = if done.launched { 0 } else { self.in_vain + 1 };
        match done.broken {
            None if done.launched => {
                self.replayed += 1;
                self.changed += u64::from(done.changed);
            }
            None => self.small += 1,
            Some((what, node)) => {
                self.sent += 1;
                let known =
                    self.broken_by.iter_mut().find(|known| (known.0, known.1) == (what, node));
                match known {
                    Some(known) => known.2 += 1,
                    None => self.broken_by.push((what, node, 1)),
                }
            }
        }
        if self.in_vain >= PATIENCE {
            self.switch_off("none of 128 passes in a row was replayed, for the reasons above");
        }
    }

    /// The report.
    #[doc(hidden)]
    pub fn report(&self) -> ReplayReport {
        let name = |node: u32| self.nodes.get(node as usize).cloned();
        let reasons = self.broken_by.iter();
        ReplayReport {
            replayed: self.replayed,
            changed: self.changed,
            sent: self.sent,
            small: self.small,
            broken_by: reasons
                .map(|&(what, node, passes)| (Reason { what, node: node.and_then(name) }, passes))
                .collect(),
            off: self.off.clone(),
        }
    }
}
