//! The queue of an edge, and its behaviour when it is full. The producer's `Outlet` has the [`Sender`], and the
//! consumer's `Inlet` the [`Receiver`].
//!
//! Most edges are rings: each end changes its own side with plain loads and stores, and a tick takes no lock. The other
//! queues are behind a lock: see [`EdgeOptions::is_ring`].

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
    /// The oldest message is dropped: the consumer sees the latest messages.
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
    /// Whether the edge carries messages into the next tick. The first message is there before the consumer's first
    /// tick, so the edge holds one more than its capacity. A message that waits at the end of a run is state: the next
    /// run begins with it.
    pub(crate) feedback: bool,
}

impl EdgeOptions {
    /// Creates the options of an edge without `#[feedback]`.
    ///
    /// # Errors
    /// [`Error::CapacityZero`].
    pub fn new(name: &'static str, capacity: usize, policy: QueuePolicy) -> Result<Self> {
        if capacity == 0 {
            return Err(Error::CapacityZero { edge: name });
        }
        Ok(Self { name, capacity, policy, feedback: false })
    }

    /// Adds `#[feedback]` to the options.
    #[must_use]
    pub fn feedback(self) -> Self {
        Self { capacity: self.capacity.saturating_add(1), feedback: true, ..self }
    }
}

impl EdgeOptions {
    /// The options of an edge without attributes.
    pub fn plain(name: &'static str) -> Self {
        Self { name, capacity: 1, policy: QueuePolicy::BackPressure, feedback: false }
    }
}

/// The state of an edge at one moment, for reports.
#[derive(Debug, Clone, Copy)]
pub struct EdgeStatus {
    /// `producer.output >> consumer.input`
    pub name: &'static str,
    /// The same number at both ends of the edge, and at no other edge.
    pub(crate) id: usize,
    /// The number of waiting messages.
    pub waiting: usize,
    /// The number of messages that the edge holds at most.
    pub capacity: usize,
    /// The fate of a message when the edge is full.
    pub policy: QueuePolicy,
    /// Whether the edge carries messages into the next tick.
    pub feedback: bool,
    /// Whether the edge has [given way](Receiver::give_way) in this run: it no longer keeps its producer from running.
    pub(crate) gives_way: bool,
    /// The number of messages that the producer has sent in this run, plus those that waited when the run began.
    pub(crate) sent: u64,
    /// The number of these messages that ticks of the consumer have taken.
    pub(crate) received: u64,
    /// The number of messages that were dropped because the edge has given way, and not by a policy.
    pub(crate) dropped_to_go_on: u64,
    /// The number of messages that the policy dropped in this run.
    pub dropped_by_policy: u64,
    /// The number of messages that a condition of the consumer dropped in this run, because they had no partner.
    pub(crate) dropped_alone: u64,
    /// The number of messages that failed ticks of the consumer dropped in this run without having taken them.
    pub(crate) dropped_by_failure: u64,
    /// The number of messages that still waited when the run ended, and were dropped.
    pub dropped_at_end: u64,
}

impl EdgeStatus {
    /// Whether the edge has no room, and its producer must wait for room.
    pub(crate) fn blocks(&self) -> bool {
        self.policy == QueuePolicy::BackPressure && self.is_full()
    }

    /// Whether a producer that waits for room finds none.
    pub(crate) fn is_full(&self) -> bool {
        self.waiting >= self.capacity && !self.gives_way
    }

    /// Whether the policy may drop messages.
    pub(crate) fn is_lossy(&self) -> bool {
        matches!(self.policy, QueuePolicy::Pop | QueuePolicy::Reject)
    }
}

/// The state that both ends of an edge share, beside the messages.
#[derive(Debug)]
struct Edge {
    options: EdgeOptions,
    /// Set while no worker has the consumer. The producer may be running, and sees the flag at a later message.
    gives_way: AtomicBool,
    /// Set and read by the worker that has the consumer.
    keeps: AtomicBool,
    /// The number of messages that a ring had passed on when this run began.
    before: AtomicUsize,
    dropped_to_go_on: AtomicU64,
    /// The number of messages that the policy refused in this run. Messages that the policy dropped from the queue are
    /// counted in the queue.
    refused: AtomicU64,
    /// The number of messages that a condition of the consumer dropped in this run.
    dropped_alone: AtomicU64,
    /// The number of messages that failed ticks of the consumer dropped in this run without having taken them.
    dropped_by_failure: AtomicU64,
    /// The number of messages that were dropped because the run ended before they were received.
    dropped_at_end: AtomicU64,
}

/// The messages of a queue in this run: each is waiting, taken or popped. Messages that found no room were never in the
/// queue.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Passed {
    /// The number of messages that were put in, plus those that waited when the run began.
    put: u64,
    /// The number of messages that the consumer's end has taken out.
    taken: u64,
    /// The number of messages that the policy `pop` has dropped.
    popped: u64,
    /// The number of waiting messages, including a held one that the consumer has not received yet.
    waiting: usize,
}

/// The largest capacity of a ring. A larger ring would take much memory before there are any messages.
const MOST_IN_RING: usize = 64;

impl EdgeOptions {
    /// Whether the queue is a ring. A queue is behind a lock if the producer's end takes messages out, if the
    /// consumer's end puts messages in, or if its capacity is so large that it should grow with its messages.
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

    /// Prepares for a run: messages are counted anew. `before` is the number of messages that a ring has passed on so
    /// far.
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

    /// Counts a message that found no room.
    #[cold]
    fn count_dropped(&self) {
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
        // Each count is read once: the numbers are then consistent while the producer runs.
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
