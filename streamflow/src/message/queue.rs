//! The queue of an edge, and its behaviour when it is full. The producer's `Outlet` owns the [`Sender`], and the
//! consumer's `Inlet` owns the [`Receiver`].
//!
//! Most queues are rings: each end changes its own count with plain loads and stores, and a tick takes no lock. Any other
//! queue is behind a lock. [`EdgeOptions::is_ring`] says which queues are rings.

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
    /// The producer does not run before the edge has room.
    #[default]
    BackPressure,
    /// The oldest message is dropped, so that the consumer receives the latest messages.
    Pop,
    /// The new message is dropped.
    Reject,
    /// The producer's tick fails, and sends nothing.
    Fault,
}

/// The options of an edge in `graph!`.
#[derive(Debug, Clone, Copy)]
pub struct EdgeOptions {
    /// The name of the edge: `producer.output >> consumer.input`.
    pub(crate) name: &'static str,
    pub(crate) capacity: usize,
    pub(crate) policy: QueuePolicy,
    /// Whether this is a feedback edge, which carries messages into the next tick. Its first message is in the queue before
    /// the consumer's first tick, so the edge holds one message more than its capacity in `graph!`. A message that waits at
    /// the end of a run is state: the next run begins with it.
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

    /// Makes these the options of an edge with `#[feedback]`.
    #[must_use]
    pub fn feedback(self) -> Self {
        Self { capacity: self.capacity.saturating_add(1), feedback: true, ..self }
    }
}

impl EdgeOptions {
    /// The options of an edge without attributes: room for one message, and back-pressure.
    pub fn plain(name: &'static str) -> Self {
        Self { name, capacity: 1, policy: QueuePolicy::BackPressure, feedback: false }
    }
}

/// The state of an edge at one moment, for reports.
#[derive(Debug, Clone, Copy)]
pub struct EdgeStatus {
    /// The name of the edge: `producer.output >> consumer.input`.
    pub name: &'static str,
    /// The number of the edge. The sender and the receiver report the same number, and each edge has a different one.
    pub(crate) id: usize,
    /// The number of waiting messages.
    pub waiting: usize,
    /// The capacity: the most messages that the edge can have.
    pub capacity: usize,
    /// The fate of a message when the edge is full.
    pub policy: QueuePolicy,
    /// Whether this is a feedback edge, which carries messages into the next tick.
    pub feedback: bool,
    /// Whether the edge has [given way](Receiver::give_way) in this run. Its producer then runs even if the edge is full.
    pub(crate) gives_way: bool,
    /// The number of messages that the producer has sent in this run, plus the number that waited when the run began.
    pub(crate) sent: u64,
    /// The number of the messages in `sent` that ticks of the consumer have taken.
    pub(crate) received: u64,
    /// The number of messages that were dropped in this run because the edge has given way and was full.
    pub(crate) dropped_to_go_on: u64,
    /// The number of messages that the policy dropped in this run.
    pub dropped_by_policy: u64,
    /// The number of messages that a condition of the consumer dropped in this run, because they had no partner.
    pub(crate) dropped_alone: u64,
    /// The number of messages that the consumer had not taken in a tick that failed, and that this tick dropped, in this run.
    pub(crate) dropped_by_failure: u64,
    /// The number of messages that were waiting when the run ended, and were dropped.
    pub dropped_at_end: u64,
}

impl EdgeStatus {
    /// Whether the producer must wait because the edge is full.
    pub(crate) fn blocks(&self) -> bool {
        self.policy == QueuePolicy::BackPressure && self.is_full()
    }

    /// Whether the edge is full and has not given way, so that a producer that waits for room can't run.
    pub(crate) fn is_full(&self) -> bool {
        self.waiting >= self.capacity && !self.gives_way
    }

    /// Whether the policy may drop messages.
    pub(crate) fn is_lossy(&self) -> bool {
        matches!(self.policy, QueuePolicy::Pop | QueuePolicy::Reject)
    }
}

/// The state, except the messages, that the sender and the receiver of an edge share.
#[derive(Debug)]
struct Edge {
    options: EdgeOptions,
    /// Whether the edge has given way. The flag is set while no worker runs the consumer. The producer may be running then,
    /// and reads the new value when it sends a later message.
    gives_way: AtomicBool,
    /// Whether `flush` leaves the edge's messages in the queue. Only the worker that has the consumer sets and reads the flag.
    keeps: AtomicBool,
    /// The number of messages that a ring's consumer had taken since the ring was made, when this run began.
    before: AtomicUsize,
    dropped_to_go_on: AtomicU64,
    /// The number of new messages that the policy has dropped in this run. The queue itself counts the waiting messages that
    /// the policy `pop` has dropped.
    refused: AtomicU64,
    /// The number of messages that a condition of the consumer dropped in this run.
    dropped_alone: AtomicU64,
    /// The number of messages that the consumer had not taken in a tick that failed, and that this tick dropped, in this run.
    dropped_by_failure: AtomicU64,
    /// The number of messages that were dropped because the run ended before they were received.
    dropped_at_end: AtomicU64,
}

/// The numbers of messages that were put into a queue in this run: each message is waiting, taken or popped. A message that
/// found no room was never in the queue, and is not counted here.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Passed {
    /// The number of messages that were put in, plus the number that waited when the run began.
    put: u64,
    /// The number of messages that the consumer's end has taken out.
    taken: u64,
    /// The number of messages that the policy `pop` has dropped.
    popped: u64,
    /// The number of waiting messages, including a staged message, which is chosen for the next tick and not received yet.
    waiting: usize,
}

/// The largest capacity of a ring. All slots of a ring are allocated at once, so a larger ring would take much memory.
const MOST_IN_RING: usize = 64;

impl EdgeOptions {
    /// Whether the queue is a ring. A queue is behind a lock if the producer's end takes messages out (`pop`), if the
    /// consumer's end puts messages in (feedback), or if its capacity is so large that it should grow with its messages.
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

    /// Prepares the edge for a run: sets the counts of messages to 0. `before` is the number of messages that a ring's
    /// consumer has taken so far.
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

    /// Counts a new message as dropped because it found no room.
    #[cold]
    fn count_dropped(&self) {
        let dropped = match self.options.policy {
            QueuePolicy::BackPressure => &self.dropped_to_go_on,
            QueuePolicy::Pop | QueuePolicy::Reject | QueuePolicy::Fault => &self.refused,
        };
        dropped.fetch_add(1, Ordering::Relaxed);
    }

    /// The number of the edge, which is the same at the sender and the receiver, and different for each edge.
    fn id(self: &Arc<Self>) -> usize {
        Arc::as_ptr(self).addr()
    }

    /// The numbers of messages of a ring in this run. `written` and `read` are the ring's counts since it was made.
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
        // Each count is read once, so that the numbers computed from it agree even if the producer runs at the same time.
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
