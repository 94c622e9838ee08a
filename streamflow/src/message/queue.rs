//! The queue of one edge, and what it does when it is full. The producer's `Outlet` has its [`Sender`], and the
//! consumer's `Inlet` its [`Receiver`].
//!
//! Most edges are rings: each end changes its own side with plain loads and stores, so that a tick takes no lock. The
//! other queues are behind a lock: see [`EdgeOptions::is_ring`].

mod locked;
mod receiver;
mod ring;
mod sender;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

pub(crate) use receiver::Receiver;
pub(crate) use sender::Sender;

use self::locked::Locked;
use self::ring::ring;
use crate::error::{Error, Result};

/// The fate of a message when its edge is full.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum QueuePolicy {
    /// The producer does not run before there is room.
    #[default]
    BackPressure,
    /// The oldest message is dropped: the consumer sees the latest ones.
    Pop,
    /// The new message is dropped.
    Reject,
    /// The producer's tick fails, and sends nothing.
    Fault,
}

/// The options of an edge in `graph!`.
#[derive(Debug, Clone, Copy)]
pub struct EdgeOptions {
    /// `producer.output >> consumer.input`
    pub(crate) name: &'static str,
    pub(crate) capacity: usize,
    pub(crate) policy: QueuePolicy,
    /// Whether it carries messages into the next tick. Its first message is there before the consumer's first tick,
    /// so it holds one more than its capacity. A message that waits at the end of a run is state, with which the
    /// next run begins.
    pub(crate) feedback: bool,
}

impl EdgeOptions {
    /// The options of an edge that is no feedback.
    ///
    /// # Errors
    /// [`Error::CapacityZero`].
    pub fn new(name: &'static str, capacity: usize, policy: QueuePolicy) -> Result<Self> {
        if capacity == 0 {
            return Err(Error::CapacityZero { edge: name });
        }
        Ok(Self { name, capacity, policy, feedback: false })
    }

    /// The options with `#[feedback]`.
    #[must_use]
    pub fn feedback(self) -> Self {
        Self { capacity: self.capacity.saturating_add(1), feedback: true, ..self }
    }
}

impl EdgeOptions {
    /// An edge without attributes.
    pub fn plain(name: &'static str) -> Self {
        Self { name, capacity: 1, policy: QueuePolicy::BackPressure, feedback: false }
    }
}

/// An edge at one moment, for reports.
#[derive(Debug, Clone, Copy)]
pub struct EdgeStatus {
    /// `producer.output >> consumer.input`
    pub name: &'static str,
    /// The same number at both ends of the edge, and at no other edge.
    pub(crate) id: usize,
    /// How many messages wait.
    pub waiting: usize,
    /// How many it holds.
    pub capacity: usize,
    /// The fate of one more message.
    pub policy: QueuePolicy,
    /// Whether it carries messages into the next tick.
    pub feedback: bool,
    /// Whether it has [given way](Receiver::give_way) in this run: it keeps its producer from running no more.
    pub(crate) gives_way: bool,
    /// How many messages its producer published on it in this run, and how many waited on it when the run began.
    pub(crate) sent: u64,
    /// How many of them ticks of the consumer have taken.
    pub(crate) received: u64,
    /// How many messages it dropped since then, without a policy for that.
    pub(crate) dropped_to_go_on: u64,
    /// How many messages its policy dropped in this run.
    pub dropped_by_policy: u64,
    /// How many messages a condition of the consumer dropped in this run, since they had no partner.
    pub(crate) dropped_alone: u64,
    /// How many messages were dropped in this run since a tick of the consumer had failed, which had not taken them.
    pub(crate) dropped_by_failure: u64,
    /// How many messages waited when the run ended, and were dropped.
    pub dropped_at_end: u64,
}

impl EdgeStatus {
    /// Whether it has no room, and its producer must wait for some.
    pub(crate) fn blocks(&self) -> bool {
        self.policy == QueuePolicy::BackPressure && self.is_full()
    }

    /// Whether a producer that waits for room finds none.
    pub(crate) fn is_full(&self) -> bool {
        self.waiting >= self.capacity && !self.gives_way
    }

    /// Whether its messages may be dropped: its policy says so.
    pub(crate) fn is_lossy(&self) -> bool {
        matches!(self.policy, QueuePolicy::Pop | QueuePolicy::Reject)
    }
}

/// The state that both ends of an edge share, beside its messages.
#[derive(Debug)]
struct Edge {
    options: EdgeOptions,
    /// Set while no worker has the consumer; the producer may run, and sees it at a later message.
    gives_way: AtomicBool,
    /// Set and read by the worker that has the consumer.
    keeps: AtomicBool,
    /// How many messages a ring had passed on when this run began.
    before: AtomicUsize,
    dropped_to_go_on: AtomicU64,
    /// How many messages the policy refused in this run. Those that it dropped from the queue are counted there.
    refused: AtomicU64,
    /// How many messages a condition of the consumer dropped in this run.
    dropped_alone: AtomicU64,
    /// How many messages a failed tick of the consumer dropped in this run without having taken them.
    dropped_by_failure: AtomicU64,
    /// How many messages were dropped since the run ended before they were received.
    dropped_at_end: AtomicU64,
}

/// The messages of a queue in this run: each is waiting, taken or popped. Those that found no room never were in it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Passed {
    /// How many were put in, and how many waited when the run began.
    put: u64,
    /// How many the consumer's end has taken out.
    taken: u64,
    /// How many the policy `pop` has dropped.
    popped: u64,
    /// How many wait, those included that the consumer has not received yet.
    waiting: usize,
}

/// A ring of more messages would take its memory before there are any.
const MOST_IN_RING: usize = 64;

impl EdgeOptions {
    /// Whether the queue is a ring. A queue is behind a lock if the producer's end takes messages out, if the consumer's
    /// end puts messages in, and if it is so large that it better grows with its messages.
    fn is_ring(&self) -> bool {
        self.policy != QueuePolicy::Pop && !self.feedback && self.capacity <= MOST_IN_RING
    }
}

/// Makes the two ends of an edge.
pub(crate) fn queue<T>(options: EdgeOptions) -> (Sender<T>, Receiver<T>) {
    let edge = Arc::new(Edge::new(options));
    if options.is_ring() {
        let (sender, receiver) = ring(options.capacity as u32);
        return (Sender::ring(edge.clone(), sender), Receiver::ring(edge, receiver));
    }
    let queue = Arc::new(Locked::new(options.capacity));
    (Sender::locked(edge.clone(), queue.clone()), Receiver::locked(edge, queue))
}

impl Edge {
    fn new(options: EdgeOptions) -> Self {
        Self {
            options,
            gives_way: AtomicBool::new(false),
            keeps: AtomicBool::new(false),
            before: AtomicUsize::new(0),
            dropped_to_go_on: AtomicU64::new(0),
            refused: AtomicU64::new(0),
            dropped_alone: AtomicU64::new(0),
            dropped_by_failure: AtomicU64::new(0),
            dropped_at_end: AtomicU64::new(0),
        }
    }

    /// A run begins: messages are counted anew. A ring has passed on so many `before`.
    fn begin_run(&self, before: usize) {
        self.gives_way.store(false, Ordering::Relaxed);
        self.keeps.store(false, Ordering::Relaxed);
        self.before.store(before, Ordering::Relaxed);
        self.dropped_to_go_on.store(0, Ordering::Relaxed);
        self.refused.store(0, Ordering::Relaxed);
        self.dropped_alone.store(0, Ordering::Relaxed);
        self.dropped_by_failure.store(0, Ordering::Relaxed);
        self.dropped_at_end.store(0, Ordering::Relaxed);
    }

    fn gives_way(&self) -> bool {
        self.gives_way.load(Ordering::Relaxed)
    }

    /// A message found no room.
    #[cold]
    fn note_dropped(&self) {
        let dropped = match self.options.policy {
            QueuePolicy::BackPressure => &self.dropped_to_go_on,
            QueuePolicy::Pop | QueuePolicy::Reject | QueuePolicy::Fault => &self.refused,
        };
        dropped.fetch_add(1, Ordering::Relaxed);
    }

    /// The number of the edge: the same at both ends, and at no other edge.
    fn id(self: &Arc<Self>) -> usize {
        Arc::as_ptr(self).addr()
    }

    /// The messages of a ring in this run. `written` and `read` are its counts.
    fn of_ring(&self, written: usize, read: usize) -> Passed {
        let before = self.before.load(Ordering::Relaxed);
        let since = |count: usize| count.wrapping_sub(before) as u64;
        let (put, taken) = (since(written), since(read));
        Passed { put, taken, popped: 0, waiting: written.wrapping_sub(read) }
    }

    fn status(self: &Arc<Self>, passed: Passed) -> EdgeStatus {
        let EdgeOptions { name, capacity, policy, feedback } = self.options;
        let Passed { put, taken, popped, waiting } = passed;
        let count = |count: &AtomicU64| count.load(Ordering::Relaxed);
        // Each is read once, so that the numbers fit together while the producer runs.
        let (refused, gave_way) = (count(&self.refused), count(&self.dropped_to_go_on));
        let (alone, failed) = (count(&self.dropped_alone), count(&self.dropped_by_failure));
        let at_end = count(&self.dropped_at_end);
        EdgeStatus {
            name,
            id: self.id(),
            waiting,
            capacity,
            policy,
            feedback,
            gives_way: self.gives_way(),
            sent: put + refused + gave_way,
            received: taken.saturating_sub(alone + failed + at_end),
            dropped_to_go_on: gave_way,
            dropped_by_policy: refused + popped,
            dropped_alone: alone,
            dropped_by_failure: failed,
            dropped_at_end: at_end,
        }
    }
}
