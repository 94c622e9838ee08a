//! The planned streams of a node: [`Assign::Planned`](crate::stream::Assign). `graph::plan` decides which nodes share a stream.
//!
//! A node gets its stream when it first needs one. The first node of a chain that needs a stream makes it, and the other nodes
//! get handles of the same stream. The order of work does not depend on this: two nodes on one stream are two users of it, like
//! an adopting operator and the producer of its messages, and the claims (law 7) find the missing waits.

use std::cell::{Cell, OnceCell};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use crate::driver::DriverResult;
use crate::error::Result;
use crate::lock::Lock;
use crate::log;
use crate::stream::{CudaStream, Point, StreamPool};

/// The budget of the planned nodes on one pool: how many streams they may allocate from the pool together.
///
/// Planning must not exhaust a pool with a maximum that is large enough for one stream per operator. Without a plan, each node
/// allocates a stream when it first needs one. With a plan, the first node of a chain that needs a stream allocates one, and each
/// other node of the chain adds a spare stream to the budget instead. Any chain may use up a spare to allocate the stream of a
/// further set. So there are never more streams than nodes that have needed one, whichever threads run them.
#[derive(Debug)]
pub(crate) struct Budget {
    pool: StreamPool,
    /// The number of spare streams. A pool without a maximum needs no count.
    spare: AtomicUsize,
}

impl Budget {
    pub(crate) fn new(pool: StreamPool) -> Arc<Self> {
        Arc::new(Self { pool, spare: AtomicUsize::new(0) })
    }

    /// Adds a spare stream to the budget.
    fn leave(&self) {
        self.spare.fetch_add(1, Ordering::Relaxed);
    }

    /// Uses up a spare stream. Returns whether there was one; always `true` for a pool without a maximum.
    fn take(&self) -> bool {
        let one_less = |spare: usize| spare.checked_sub(1);
        !self.pool.is_limited()
            || self.spare.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less).is_ok()
    }

    /// Returns whether there is a spare stream; always `true` for a pool without a maximum.
    fn has_spare(&self) -> bool {
        !self.pool.is_limited() || self.spare.load(Ordering::Relaxed) > 0
    }
}

/// Nodes that follow each other, and the streams that they share. The ticks of the nodes use the chain's sets in turn, and each
/// set has one stream.
pub(crate) struct Chain {
    budget: Arc<Budget>,
    /// The label of the stream of the chain's first set.
    label: String,
    sets: Lock<Box<[Option<CudaStream>]>>,
    /// A bit for each set, which is 1 if the set has a stream.
    made: AtomicU64,
    /// Whether all nodes of the chain, as far as is known, work on its streams.
    is_whole: AtomicBool,
}

impl Chain {
    pub(crate) fn new(budget: &Arc<Budget>, label: String, depth: usize) -> Arc<Self> {
        let sets = Lock::new((0..depth).map(|_| None).collect());
        let (made, is_whole) = (AtomicU64::new(0), AtomicBool::new(true));
        Arc::new(Self { budget: budget.clone(), label, sets, made, is_whole })
    }

    /// Returns a handle of the stream of `set`, and the number of the set. If the chain can't have a stream for this set, returns
    /// another set that has one. `is_first` says that the node has no stream yet.
    fn stream(&self, set: usize, is_first: bool) -> Result<(usize, CudaStream)> {
        let _later = log::later();
        let mut sets = self.sets.lock();
        let other = sets.iter().enumerate().find_map(|(at, set)| Some((at, set.as_ref()?)));
        if is_first && other.is_some() {
            self.budget.leave();
        }
        let set = match other {
            Some((other, _)) if sets[set].is_none() && !self.budget.take() => other,
            _ => set,
        };
        if let Some(stream) = &sets[set] {
            return Ok((set, stream.shared()));
        }
        let label =
            if set == 0 { self.label.clone() } else { format!("{}, set {}", self.label, set + 1) };
        let stream = match other {
            None => self.budget.pool.allocate(label)?,
            // The program works without a stream for a further set, so an exhausted pool is no error here: streams that are named
            // at run time are allocated from it, too. The spare stays used up, so that no later tick tries again.
            Some((other, kept)) => match self.budget.pool.allocate_if_free(&label) {
                Ok(Some(stream)) => stream,
                Ok(None) => return Ok((other, kept.shared())),
                Err(error) => {
                    self.budget.leave();
                    return Err(error);
                }
            },
        };
        let handle = stream.shared();
        sets[set] = Some(stream);
        self.made.fetch_or(1 << set, Ordering::Relaxed);
        Ok((set, handle))
    }

    /// Returns whether the set has no stream and can't get one now. Takes no lock, since each tick of a node without a stream for
    /// its set calls this function.
    fn lacks(&self, set: usize) -> bool {
        self.made.load(Ordering::Relaxed) & 1 << set == 0 && !self.budget.has_spare()
    }
}

/// A node's part of a plan: its handles of the streams of its chain, one for each set. Its ticks use the sets in turn.
pub struct Planned {
    chain: Arc<Chain>,
    sets: Box<[OnceCell<CudaStream>]>,
    /// The set that was chosen in the tick `chosen_in`.
    current: Cell<usize>,
    chosen_in: Cell<u64>,
    /// Whether the plan expects that no other stream needs this node's records.
    is_quiet: bool,
}

impl fmt::Debug for Planned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Planned").field("chain", &self.chain.label).finish_non_exhaustive()
    }
}

/// The value of `chosen_in` before a set was chosen.
const NO_TICK: u64 = u64::MAX;

impl Planned {
    pub(crate) fn new(chain: &Arc<Chain>, depth: usize, is_quiet: bool) -> Self {
        Self {
            chain: chain.clone(),
            sets: (0..depth).map(|_| OnceCell::new()).collect(),
            current: Cell::new(0),
            chosen_in: Cell::new(NO_TICK),
            is_quiet,
        }
    }

    /// Returns whether the node has used a stream of the plan.
    pub(super) fn has_stream(&self) -> bool {
        self.chosen_in.get() != NO_TICK
    }

    /// Returns the stream of this tick, or of the last tick that has used one.
    pub(super) fn current(&self) -> Option<&CudaStream> {
        if self.has_stream() { self.sets[self.current.get()].get() } else { None }
    }

    /// Returns the stream of the tick with this number, if it was chosen already.
    #[inline]
    pub(super) fn chosen(&self, tick: u64) -> Option<&CudaStream> {
        if self.chosen_in.get() == tick { self.current() } else { None }
    }

    /// Returns all streams of the plan of which the node has a handle.
    pub(super) fn all(&self) -> impl Iterator<Item = &CudaStream> {
        self.sets.iter().filter_map(OnceCell::get)
    }

    /// Records the stream of the tick at the end of a hook, unless the plan expects that all receivers of the node's messages are
    /// on the same stream. If another stream does need the record, or if memory is freed, the record is made at that time (law
    /// 8).
    #[inline]
    pub(super) fn close(&self) -> DriverResult<()> {
        let is_quiet = self.is_quiet && self.chain.is_whole.load(Ordering::Relaxed);
        match self.current() {
            Some(stream) if !is_quiet => stream.timeline().close(),
            _ => Ok(()),
        }
    }

    /// Records that the node has found another internal stream, and will never use a stream of the plan.
    pub(super) fn leave(&self) {
        self.chain.is_whole.store(false, Ordering::Relaxed);
    }

    /// Returns the stream of a tick: the stream of this chain on which a message came, or else the stream of the next set. Calls
    /// `is_new` with each stream of which the node gets a handle.
    pub(super) fn choose(
        &self,
        tick: u64,
        sent: &mut dyn Iterator<Item = Point>,
        is_new: &dyn Fn(&CudaStream),
    ) -> Result<&CudaStream> {
        if let Some(stream) = self.chosen(tick) {
            return Ok(stream);
        }
        let set = match self.kept() {
            Some(set) => set,
            None => self.set_of(sent).unwrap_or_else(|| self.next(tick)),
        };
        let set = self.fill(set, is_new)?;
        self.current.set(set);
        self.chosen_in.set(tick);
        match self.current() {
            Some(stream) => Ok(stream),
            None => unreachable!("the set was filled just now"),
        }
    }

    /// Returns the set after the one that the last tick with a stream used. The tick's number is not enough to choose: an
    /// operator that uses a stream in every second tick would then use only one of two sets. A run begins with the first set.
    fn next(&self, tick: u64) -> usize {
        let is_later = self.has_stream() && self.chosen_in.get() < tick;
        if is_later { (self.current.get() + 1) % self.sets.len() } else { 0 }
    }

    /// Returns the set whose stream all ticks of the node must use, because a value of the node needs that stream, as an
    /// `OnStream`, or because the chain has only one set. `None` if the ticks use the sets in turn.
    fn kept(&self) -> Option<usize> {
        if self.sets.len() == 1 {
            return Some(0);
        }
        let kept = self.sets.iter().position(|set| set.get().is_some_and(CudaStream::is_kept));
        if kept.is_some() {
            // The other nodes of the chain still use its streams in turn, so this node is on another stream in some ticks.
            self.leave();
        }
        kept
    }

    /// Returns the set of the first message that came on a stream of this node, if there is one.
    fn set_of(&self, sent: &mut dyn Iterator<Item = Point>) -> Option<usize> {
        for point in sent {
            let is_on = |stream: &CudaStream| stream.timeline().id() == point.stream();
            let set = self.sets.iter().position(|set| set.get().is_some_and(is_on));
            if set.is_some() {
                return set;
            }
        }
        None
    }

    /// Makes sure that the node has a handle of the stream of `set`, or of another set if the chain can't have a stream for this
    /// one. Returns the set of which the node has a handle.
    fn fill(&self, set: usize, is_new: &dyn Fn(&CudaStream)) -> Result<usize> {
        if self.sets[set].get().is_some() {
            return Ok(set);
        }
        let own = self.sets.iter().position(|set| set.get().is_some());
        if let Some(own) = own.filter(|_| self.chain.lacks(set)) {
            return Ok(own);
        }
        let (set, stream) = self.chain.stream(set, own.is_none())?;
        if self.sets[set].get().is_none() {
            is_new(&stream);
            let _first = self.sets[set].set(stream);
        }
        Ok(set)
    }
}
