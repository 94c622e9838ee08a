//! The choice of the free block for an allocation in a tick that is [replayed](crate::driver::replay).
//!
//! The work of a replayed tick is compared with that of earlier ticks, addresses included. So the choice follows only from
//! the number of the tick and the order of the tick's own calls, and never from the device's progress. If the choice
//! depended on the answer to a query, or on a record that the host has found complete, each tick would get other memory,
//! and no tick would repeat an earlier one.
//!
//! For each size and stream there are a few *sets* of blocks, and successive ticks use the sets in rotation. A tick takes
//! the blocks of its set one after the other, in the order of their addresses. Before these, the tick takes a block that it
//! has itself returned, if the uses of that block are on the stream that allocates: this is known without a query. So with
//! `n` sets, a tick has the memory of the `n`th tick before, whatever the number of its blocks and the order in which
//! blocks return. If a block has an owner when the rotation reaches its set again, the tick takes another block of the set:
//! then the ticks repeat after a multiple of `n`.
//!
//! The host may access page-locked memory only when its uses are complete. Of such memory a tick takes the first block of
//! its set with complete uses, and so may get another block than the earlier tick. Work that other threads queue during a
//! replayed tick also takes blocks of the tick's sets: that is safe, but the ticks may then not repeat.
//!
//! Each set grows to the number of blocks that a tick has at once, plus the number of free blocks that may be [in
//! flight](super::MemoryOptions). So memory is bounded: by that sum times the number of sets.

use std::cmp::Reverse;
use std::collections::VecDeque;
use std::num::NonZeroU32;

use crate::stream::StreamTable;

/// The most sets of one size and stream. With `MOST` sets, the device may execute `MOST` ticks at once that share no
/// memory. More sets gain little, and each set needs an executable CUDA graph of its own.
const MOST: usize = 4;

/// How many of the blocks that the tick itself has returned are examined, the latest first. A block that a stream can take
/// without a wait is mostly among the latest.
const LATEST: usize = 4;

/// The number of a replayed tick, modulo 2³¹.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Turn(NonZeroU32);

impl Turn {
    /// The number of the tick that runs on this thread. `None` if that tick is not replayed.
    #[inline]
    pub(super) fn now(table: &StreamTable) -> Option<Self> {
        table.replayed_tick().map(Self::of)
    }

    pub(super) const fn of(tick: u64) -> Self {
        Self(NonZeroU32::MIN.saturating_add(tick as u32 & (u32::MAX >> 1)))
    }

    /// The index of the tick's set among `count` sets. `count` is a power of two, so the result stays right when tick
    /// numbers wrap around.
    fn set(self, count: usize) -> usize {
        (self.0.get() - 1) as usize % count
    }
}

/// A block, with the properties on which the choice of a block in a replayed tick depends.
pub(super) trait InTurns {
    fn address(&self) -> u64;
    /// Whether all uses of the block are on the stream with this number.
    fn is_used_only_on(&mut self, stream: u32) -> bool;
    /// The replayed tick in which the block was last allocated. `None` if the last allocation was in no replayed tick.
    fn turn(&self) -> Option<Turn>;
}

/// The free blocks of replayed ticks, of one size and stream.
pub(super) struct Sets<B>(Box<[Set<B>]>);

struct Set<B> {
    /// The last tick that has allocated from this set.
    turn: Option<Turn>,
    /// The blocks that were free when the tick `turn` began. The tick takes them from the end of the list.
    before: Vec<B>,
    /// The blocks that were returned since the tick `turn` began, the latest one last.
    returned: Vec<B>,
}

impl<B: InTurns> Set<B> {
    /// Prepares the set for an allocation in the tick `turn`. At the tick's first allocation, sorts the returned blocks in.
    fn begin(&mut self, turn: Turn) {
        if self.turn.replace(turn) != Some(turn) {
            self.collect();
        }
    }

    /// Moves the returned blocks to `before`, and sorts these by address, the lowest address last.
    fn collect(&mut self) {
        self.before.append(&mut self.returned);
        self.before.sort_unstable_by_key(|block| Reverse(block.address()));
    }

    /// Takes a block that the same tick has returned and whose uses are all on this stream, so that the stream needs no wait.
    fn take_returned(&mut self, stream: u32) -> Option<B> {
        let first = self.returned.len().saturating_sub(LATEST);
        let late = self.returned[first..].iter_mut();
        let place = late.rev().position(|block| block.is_used_only_on(stream))?;
        Some(self.returned.remove(self.returned.len() - 1 - place))
    }

    fn pop(&mut self) -> Option<B> {
        self.before.pop().or_else(|| self.returned.pop())
    }
}

impl<B: InTurns> Sets<B> {
    /// Creates as many sets as ticks may be in flight, rounded down to 1, 2 or 4. With powers of two, blocks of sizes that have
    /// different limits repeat at the same ticks.
    pub(super) fn new(in_flight: usize) -> Self {
        let count = 1 << in_flight.clamp(1, MOST).ilog2();
        let set = || Set { turn: None, before: Vec::new(), returned: Vec::new() };
        Self((0..count).map(|_| set()).collect())
    }

    fn of(&mut self, turn: Turn) -> &mut Set<B> {
        let place = turn.set(self.0.len());
        &mut self.0[place]
    }

    /// Adds a returned block to the set of the replayed tick in which it was allocated.
    pub(super) fn put_back(&mut self, turn: Turn, block: B) {
        self.of(turn).returned.push(block);
    }

    /// Whether no set has a block.
    pub(super) fn is_empty(&self) -> bool {
        self.0.iter().all(|set| set.before.is_empty() && set.returned.is_empty())
    }

    /// Takes any block of any set.
    pub(super) fn pop(&mut self) -> Option<B> {
        self.0.iter_mut().find_map(Set::pop)
    }
}

/// The bounds of the sets of a size.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    /// The number of ticks that may be in flight.
    pub(super) ticks: usize,
    /// The number of blocks returned by the tick itself from which on the tick takes the oldest of them again, instead of a
    /// new block.
    pub(super) blocks: usize,
    /// Whether the pool's limits allow a new block.
    pub(super) may_grow: bool,
}

impl<B: InTurns> Sets<B> {
    /// Takes a free block for a replayed tick. The caller makes the stream wait for the uses of the block. Returns `None` if
    /// the caller must allocate a new block. `loose` contains the free blocks that are in no set.
    pub(super) fn take(
        &mut self,
        turn: Turn,
        stream: u32,
        bounds: Bounds,
        loose: &mut VecDeque<B>,
    ) -> Option<B> {
        let count = self.0.len();
        let set = self.of(turn);
        set.begin(turn);
        let found = set.take_returned(stream).or_else(|| set.before.pop());
        // If the set has no block, takes one from `loose`: a block that was allocated outside of replayed ticks, or a block of
        // a set that an allocation outside of replayed ticks has moved there.
        let found = found.or_else(|| take_loose(loose, turn, count));
        if found.is_some() || (bounds.may_grow && set.returned.len() < bounds.blocks) {
            return found;
        }
        if !set.returned.is_empty() {
            return Some(set.returned.remove(0));
        }
        // The limits allow no new block, so the tick takes a block of another set. The search begins with the least recently
        // used set, because the device has most likely completed the uses of that set's blocks.
        let next = turn.set(count) + 1;
        (0..count).find_map(|place| self.0[(next + place) % count].pop())
    }

    /// Takes the `nth` block in the order of a tick's set, so that the caller can examine it.
    pub(super) fn take_nth(&mut self, turn: Turn, nth: usize) -> Option<B> {
        let set = self.of(turn);
        set.begin(turn);
        match nth.checked_sub(set.before.len()) {
            None => Some(set.before.remove(set.before.len() - nth - 1)),
            // The blocks that this tick has returned itself come last. If they were left out, each allocation of a tick that
            // returns its blocks would need a new block.
            Some(place) => (place < set.returned.len()).then(|| set.returned.remove(place)),
        }
    }

    /// Puts back a block that the caller has taken by `take_nth` and does not use.
    pub(super) fn put_nth(&mut self, turn: Turn, nth: usize, block: B) {
        let set = self.of(turn);
        match nth.checked_sub(set.before.len()) {
            None | Some(0) => set.before.insert(set.before.len() - nth, block),
            Some(place) => set.returned.insert(place.min(set.returned.len()), block),
        }
    }

    /// Moves the blocks of all sets to `to`.
    #[cold]
    pub(super) fn end(&mut self, to: &mut VecDeque<B>) {
        for set in &mut self.0 {
            set.turn = None;
            set.collect();
            to.extend(set.before.drain(..).rev());
        }
    }
}

/// Takes a block that is in no set: a block that was in the set of tick `turn` before, or else the oldest block.
fn take_loose<B: InTurns>(blocks: &mut VecDeque<B>, turn: Turn, count: usize) -> Option<B> {
    let is_own = |before: Turn| before.set(count) == turn.set(count);
    let own = blocks.iter().position(|block| block.turn().is_some_and(is_own));
    blocks.remove(own.unwrap_or(0))
}
