//! The values about a tick that a node's runner and its hooks share. The runner resets them at the beginning of a tick, the hook
//! changes them through its context, and the runner reads them when the hook has ended.

use std::cell::{Cell, OnceCell};
use std::sync::Arc;

use super::{Activity, ExecutionContext, NodeCell, Planned, RunControl};
use crate::driver::Asker;
use crate::error::Failure;
use crate::message::{Carried, Metadata, Origin};
use crate::stream::StreamPool;
use crate::time::Timestamp;

/// The values about a tick that a node's runner and its hooks share.
// The fields are in this order because the ticks of most nodes use only the fields from `tick` to `carried`, which are then in
// few cache lines. In a graph with many nodes, more cache lines would not stay in the cache.
#[repr(C)]
pub(super) struct Notes {
    pub(super) tick: Cell<u64>,
    /// Whether the operator has called `finish`.
    pub(super) is_finished: Cell<bool>,
    /// Whether the operator has called `stop_graph`.
    pub(super) has_stopped_graph: Cell<bool>,
    /// Whether the metadata of received messages is needed, because the node emits messages or the run keeps statistics.
    pub(super) carries: bool,
    /// The error of the first call in this hook that has lost a message.
    pub(super) lost: OnceCell<Box<Failure>>,
    pub(super) asker: Asker,
    pub(super) carried: Carried,
    /// The node's number in the run, by which messages name it as their origin; `None` outside of a graph.
    number: Option<Origin>,
}

impl Notes {
    /// Creates the values for a node of this name, before its first run.
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

    /// Begins a run: its ticks are counted from 0.
    fn begin_run(&mut self) {
        self.tick.set(0);
        self.is_finished.set(false);
        self.has_stopped_graph.set(false);
        self.carried.begin_run();
    }

    /// Returns the acquisition time and the origin of the data that this tick has received; `None` if it has received none, even
    /// if it has emitted data of its own.
    #[inline]
    fn received(&self) -> Option<(Timestamp, Origin)> {
        let (acquired, origin) = self.carried.began()?;
        (Some(origin) != self.number).then_some((acquired, origin))
    }
}

impl ExecutionContext {
    /// Gives the node its part of a plan, before its first hook.
    pub(crate) fn set_planned(&mut self, planned: Planned) {
        self.streams.planned = Some(Box::new(planned));
    }

    /// Returns the pool of the node's streams; `None` for a node without a pool, or with one of default streams.
    pub(crate) fn pool(&self) -> Option<&StreamPool> {
        self.streams.pool()
    }

    /// Records that the node has no outputs, so that its ticks need not merge the metadata of received messages.
    pub(crate) fn set_silent(&mut self) {
        self.notes.carries = false;
    }

    pub(crate) fn set_conditions(&mut self, conditions: Box<[&'static str]>) {
        self.cell = Arc::new(NodeCell::new(&self.node, conditions));
    }

    /// Sets the number of the node in a run, by which messages name it as their origin.
    pub(crate) fn set_number(&mut self, number: Origin) {
        self.notes.number = Some(number);
    }

    /// Records that the statistics of a run need the metadata of received messages.
    pub(crate) fn carry(&mut self) {
        self.notes.carries = true;
    }

    /// Returns whether the metadata of received messages is needed.
    pub(crate) fn carries(&self) -> bool {
        self.notes.carries
    }

    /// Returns the metadata that the tick has collected from the messages that it received.
    #[inline]
    pub(crate) fn carried(&self) -> &Carried {
        &self.notes.carried
    }

    /// Returns the metadata for a message that is emitted now.
    #[inline(always)]
    pub(crate) fn metadata(&self) -> Metadata {
        if !self.notes.carried.is_timed() {
            self.begin_data();
        }
        self.notes.carried.metadata()
    }

    /// Makes this node the origin of the tick's messages, at the first `emit` of a tick that received no data. So all messages of
    /// the tick have the same time.
    #[inline(never)]
    fn begin_data(&self) {
        let now = self.platform.clock().now();
        self.notes.carried.begin(now, self.tick(), self.notes.number);
    }

    /// Returns the acquisition time and the origin of the data that this tick has received; `None` if it has received none, even
    /// if it has emitted data of its own.
    #[inline]
    pub(crate) fn received(&self) -> Option<(Timestamp, Origin)> {
        self.notes.received()
    }

    /// Returns whether the operator has called [`finish`](Self::finish) in this run.
    pub(crate) fn is_finished(&self) -> bool {
        self.notes.is_finished.get()
    }

    /// Returns whether the operator has called [`stop_graph`](Self::stop_graph) in this run.
    pub(crate) fn has_stopped_graph(&self) -> bool {
        self.notes.has_stopped_graph.get()
    }

    /// Begins a run: its ticks are counted from 0.
    pub(crate) fn begin(&mut self) {
        self.notes.begin_run();
    }

    /// Sets the control of the run to which the following hooks belong.
    pub(crate) fn set_run(&mut self, run: &Arc<RunControl>) {
        self.run = run.clone();
    }

    /// Publishes the activity of the node for other threads.
    #[inline]
    pub(crate) fn show(&self, activity: Activity) {
        self.cell.set(self.tick(), activity, 0);
    }

    /// Publishes for other threads why the node does not run: `activity` is `Done`, `Blocked` or `Waiting`, and `condition` is
    /// the number of the condition for which the node waits, or 0.
    #[inline]
    pub(crate) fn show_waiting(&self, activity: Activity, condition: u8) {
        if activity == Activity::Done && self.cell.word().activity() != Activity::Done {
            self.run.count_end();
        }
        self.cell.set(self.tick(), activity, condition);
    }

    /// Records that a call of `AnyNode::step` has dropped messages instead of running a tick. The node may run next.
    pub(crate) fn show_dropped(&self) {
        self.run.count_dropped();
        self.show(Activity::Idle);
    }

    /// Returns whether the run permits that the node begins a tick.
    #[inline]
    pub(crate) fn permits_ticks(&self) -> bool {
        self.run.permits_ticks()
    }

    /// Returns the part of the node's state that other threads may read.
    pub(crate) fn cell(&self) -> &Arc<NodeCell> {
        &self.cell
    }
}
