//! The notes about a node that its runner and its hooks share: the runner resets them at the begin of a tick, the hook
//! adds to them through its context, and the runner reads them when the hook has ended.

use std::cell::{Cell, OnceCell};
use std::sync::Arc;

use super::{Activity, ExecutionContext, NodeCell, Planned, RunControl};
use crate::driver::Asker;
use crate::error::Failure;
use crate::message::{Carried, Metadata, Origin};
use crate::stream::StreamPool;
use crate::time::Timestamp;

/// The notes about a node.
// The fields are in this order because the ticks of most nodes use only those down to `carried`, and these share few
// cache lines. In a graph with many nodes the cache holds no more.
#[repr(C)]
pub(super) struct Notes {
    pub(super) tick: Cell<u64>,
    /// Whether the operator has called `finish`.
    pub(super) is_finished: Cell<bool>,
    /// Whether the operator has called `stop_graph`.
    pub(super) has_stopped_graph: Cell<bool>,
    /// Whether the metadata of received messages is needed: the node emits messages, or the run keeps statistics.
    pub(super) carries: bool,
    /// The error of the first call of this hook that has lost a message.
    pub(super) lost: OnceCell<Box<Failure>>,
    pub(super) asker: Asker,
    pub(super) carried: Carried,
    /// The node's number in the run, as the origin of messages; `None` without a graph.
    number: Option<Origin>,
}

impl Notes {
    /// Creates the notes about a node of this name, before its first run.
    pub(super) fn new(node: &str) -> Self {
        Self {
            tick: Cell::new(0),
            is_finished: Cell::new(false),
            has_stopped_graph: Cell::new(false),
            carries: true,
            lost: OnceCell::new(),
            asker: Asker::named(node),
            carried: Carried::default(),
            number: None,
        }
    }

    /// Begins a run: ticks are counted from 0.
    fn begin_run(&mut self) {
        self.tick.set(0);
        self.is_finished.set(false);
        self.has_stopped_graph.set(false);
        self.carried.begin_run();
    }

    /// The acquisition time and the origin of the data that this tick has received; `None` if it has received none,
    /// even if it has emitted some.
    #[inline]
    fn received(&self) -> Option<(Timestamp, Origin)> {
        let (acquired, origin) = self.carried.began()?;
        (Some(origin) != self.number).then_some((acquired, origin))
    }
}

impl ExecutionContext {
    /// Gives the node a place in a plan, before its first hook.
    pub(crate) fn set_planned(&mut self, planned: Planned) {
        self.streams.planned = Some(Box::new(planned));
    }

    /// The pool of the node's streams.
    pub(crate) fn pool(&self) -> Option<&StreamPool> {
        self.streams.pool()
    }

    /// Records that the node has no outputs, so that its ticks merge no metadata of received messages.
    pub(crate) fn set_silent(&mut self) {
        self.notes.carries = false;
    }

    pub(crate) fn set_conditions(&mut self, conditions: Box<[&'static str]>) {
        self.cell = Arc::new(NodeCell::new(&self.node, conditions));
    }

    /// Gives the node its number as an origin, for a run.
    pub(crate) fn set_number(&mut self, number: Origin) {
        self.notes.number = Some(number);
    }

    /// Records that the statistics of a run need the metadata of received messages.
    pub(crate) fn carry(&mut self) {
        self.notes.carries = true;
    }

    /// Whether the metadata of received messages is needed.
    pub(crate) fn carries(&self) -> bool {
        self.notes.carries
    }

    /// The notes about the messages that a tick receives.
    #[inline]
    pub(crate) fn carried(&self) -> &Carried {
        &self.notes.carried
    }

    /// The metadata of a message that is emitted now.
    #[inline(always)]
    pub(crate) fn metadata(&self) -> Metadata {
        if !self.notes.carried.is_timed() {
            self.begin_data();
        }
        self.notes.carried.metadata()
    }

    /// Begins data of this node's origin, at the first `emit` of a tick: all messages of the tick have the same time.
    #[inline(never)]
    fn begin_data(&self) {
        let now = self.platform.clock().now();
        self.notes.carried.begin(now, self.tick(), self.notes.number);
    }

    /// The acquisition time and the origin of the data that this tick has received; `None` if it has received none,
    /// even if it has emitted some.
    #[inline]
    pub(crate) fn received(&self) -> Option<(Timestamp, Origin)> {
        self.notes.received()
    }

    /// Whether the operator has called [`finish`](Self::finish) in this run.
    pub(crate) fn is_finished(&self) -> bool {
        self.notes.is_finished.get()
    }

    /// Whether the operator has called [`stop_graph`](Self::stop_graph) in this run.
    pub(crate) fn has_stopped_graph(&self) -> bool {
        self.notes.has_stopped_graph.get()
    }

    /// Begins a run: ticks are counted from 0.
    pub(crate) fn begin(&mut self) {
        self.notes.begin_run();
    }

    /// Sets the run of the following hooks.
    pub(crate) fn set_run(&mut self, run: &Arc<RunControl>) {
        self.run = run.clone();
    }

    /// Shows other threads the activity of the node.
    #[inline]
    pub(crate) fn show(&self, activity: Activity) {
        self.cell.set(self.tick(), activity, 0);
    }

    /// Shows other threads why the node does not run: `activity` is `Done`, `Blocked` or `Waiting`, and `condition` is
    /// the number of the condition that it waits for, or 0.
    #[inline]
    pub(crate) fn show_waiting(&self, activity: Activity, condition: u8) {
        if activity == Activity::Done && self.cell.word().activity() != Activity::Done {
            self.run.count_end();
        }
        self.cell.set(self.tick(), activity, condition);
    }

    /// Records that a call of `AnyNode::step` has dropped messages without a tick. The node may run next.
    pub(crate) fn show_dropped(&self) {
        self.run.count_dropped();
        self.show(Activity::Idle);
    }

    /// Whether the run permits the node to begin a tick.
    #[inline]
    pub(crate) fn permits_ticks(&self) -> bool {
        self.run.permits_ticks()
    }

    /// The part of the node that other threads see.
    pub(crate) fn cell(&self) -> &Arc<NodeCell> {
        &self.cell
    }
}
