//! The planned streams of a node: [`Assign::Planned`](crate::stream::Assign). `graph::plan` decides which nodes share
//! them.
//!
//! A node gets its stream when it first needs one: the first node of a chain makes the stream, and the others get
//! handles of it. No order depends on that: two nodes on one stream are two users of it, like an adopting operator and
//! the producer of its messages, and the claims (law 7) find the missing waits.

use std::cell::{Cell, OnceCell};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use crate::driver::DriverResult;
use crate::error::Result;
use crate::lock::Lock;
use crate::log;
use crate::stream::{CudaStream, Point, StreamPool};

/// The budget of the planned nodes on one pool: the number of streams that they may take together.
///
/// Planning must not exhaust a pool with a maximum if the program works with a stream for each operator. In that case
/// each node takes a stream when it first needs one. With a plan, the first node of a chain takes one, too, and each
/// other node leaves its stream as a spare: any chain may take a spare for one more set. So there are never more
/// streams than nodes that have asked, whichever threads ask at the same time.
#[derive(Debug)]
pub(crate) struct Budget {
    pool: StreamPool,
    /// The number of spare streams. Not counted in a pool without a maximum.
    spare: AtomicUsize,
}

impl Budget {
    pub(crate) fn new(pool: StreamPool) -> Arc<Self> {
        Arc::new(Self { pool, spare: AtomicUsize::new(0) })
    }

    /// Adds a spare stream.
    fn leave(&self) {
        self.spare.fetch_add(1, Ordering::Relaxed);
    }

    /// Takes a spare stream. Returns whether there was one.
    fn take(&self) -> bool {
        let one_less = |spare: usize| spare.checked_sub(1);
        !self.pool.is_limited()
            || self.spare.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less).is_ok()
    }

    /// Whether there is a spare stream.
    fn has_spare(&self) -> bool {
        !self.pool.is_limited() || self.spare.load(Ordering::Relaxed) > 0
    }
}

/// Nodes that follow each other, and the streams that they share: one stream for each set.
pub(crate) struct Chain {
    budget: Arc<Budget>,
    /// The name of the chain's first stream.
    label: String,
    sets: Lock<Box<[Option<CudaStream>]>>,
    /// A bit for each set with a stream.
    made: AtomicU64,
    /// Whether no node of the chain is known to work on another stream.
    is_whole: AtomicBool,
}

impl Chain {
    pub(crate) fn new(budget: &Arc<Budget>, label: String, depth: usize) -> Arc<Self> {
        let sets = Lock::new((0..depth).map(|_| None).collect());
        let (made, is_whole) = (AtomicU64::new(0), AtomicBool::new(true));
        Arc::new(Self { budget: budget.clone(), label, sets, made, is_whole })
    }

    /// Returns a set with a handle of its stream: this set, or another one if the chain can't have so many. `is_first`:
    /// the node has no stream yet.
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
            // No program depends on a further set, so the pool may be exhausted here: streams that are named at run
            // time count as well. The budget's stream then stays taken, and no later tick asks for it.
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

    /// Whether the set has no stream and can't get one now. Takes no lock, since each tick without its set calls this.
    fn lacks(&self, set: usize) -> bool {
        self.made.load(Ordering::Relaxed) & 1 << set == 0 && !self.budget.has_spare()
    }
}

/// A node's handles of the streams of its chain, used in turn.
pub struct Planned {
    chain: Arc<Chain>,
    sets: Box<[OnceCell<CudaStream>]>,
    /// The set chosen in the tick `chosen_in`.
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

/// No set was chosen yet.
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

    /// Whether the node has a stream of the plan.
    pub(super) fn has_stream(&self) -> bool {
        self.chosen_in.get() != NO_TICK
    }

    /// The stream of this tick, or of the last tick that has used one.
    pub(super) fn current(&self) -> Option<&CudaStream> {
        if self.has_stream() { self.sets[self.current.get()].get() } else { None }
    }

    /// The stream of a tick, if it was chosen.
    #[inline]
    pub(super) fn chosen(&self, tick: u64) -> Option<&CudaStream> {
        if self.chosen_in.get() == tick { self.current() } else { None }
    }

    /// All streams of the node.
    pub(super) fn all(&self) -> impl Iterator<Item = &CudaStream> {
        self.sets.iter().filter_map(OnceCell::get)
    }

    /// Ends a hook: records the stream of the tick, unless all receivers of the node's messages are on the same stream.
    /// If a receiver turns out not to be, or if memory is freed, the record is made at that point (law 8).
    #[inline]
    pub(super) fn close(&self) -> DriverResult<()> {
        let is_quiet = self.is_quiet && self.chain.is_whole.load(Ordering::Relaxed);
        match self.current() {
            Some(stream) if !is_quiet => stream.timeline().close(),
            _ => Ok(()),
        }
    }

    /// Records that the node gets its stream in another way, and will never use a stream of the plan.
    pub(super) fn leave(&self) {
        self.chain.is_whole.store(false, Ordering::Relaxed);
    }

    /// The stream of a tick: the stream on which a message of this chain came, else the stream of the next set. Calls
    /// `is_new` with each stream that the node gets.
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

    /// The set after the one of the last tick with a stream. A choice by the tick's number would give an operator that
    /// works in every second tick only one set of two. A run begins with the first set.
    fn next(&self, tick: u64) -> usize {
        let is_later = self.has_stream() && self.chosen_in.get() < tick;
        if is_later { (self.current.get() + 1) % self.sets.len() } else { 0 }
    }

    /// The set on whose stream all ticks of the node work, since a value of the node needs that stream, as an `OnStream`, or
    /// since the chain has one set. `None` if the ticks use the sets in turn.
    fn kept(&self) -> Option<usize> {
        if self.sets.len() == 1 {
            return Some(0);
        }
        let kept = self.sets.iter().position(|set| set.get().is_some_and(CudaStream::is_kept));
        if kept.is_some() {
            // The other nodes of the chain go on to use its streams in turn.
            self.leave();
        }
        kept
    }

    /// The set of the first message that came on a stream of this node.
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

    /// Gets the handle of a set, or of another set if the chain can't have so many. Returns the set.
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
