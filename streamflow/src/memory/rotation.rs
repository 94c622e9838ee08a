//! The free block that an allocation gets in a tick that is [replayed](crate::driver::replay).
//!
//! A replayed tick is compared with earlier ones, addresses included. So there the choice follows from the number of the
//! tick and from the order of the tick's own calls, and never from how far the device is: the answer to a query, or a
//! record that the host has found complete, would give each tick other memory, and none would repeat.
//!
//! Ticks go round a few *sets* of blocks, of each size and stream. A tick takes the blocks of its set one after the other,
//! by their addresses. A block that the same tick has returned is taken first, if its uses are on the stream that
//! allocates: that is known without the device, too. So a tick has the memory of the tick so many sets before, however
//! many blocks it takes, and in whichever order they come back. A block that is held for longer than all sets is replaced
//! by another one of its set: then the ticks repeat after a multiple of the sets.
//!
//! Page-locked memory that the host is to touch must be complete. There a tick takes the first of its set that is, so such a
//! tick may have other memory. Work of other threads beside a replayed pass takes part in its sets: that is safe, and the ticks
//! may not repeat.
//!
//! Each set grows to what a tick has at once, and by as many blocks as may be [in flight](super::MemoryOptions): so
//! memory is bounded, by the number of sets times that.

use std::cmp::Reverse;
use std::collections::VecDeque;
use std::num::NonZeroU32;

use crate::stream::StreamTable;

/// The most sets: as many ticks may be on the device at once and share no memory. More gain little, and each is a graph
/// of its own.
const MOST: usize = 4;

/// How many of the blocks that the same tick has returned are looked at: those that a stream can take without a wait come
/// back last.
const LATEST: usize = 4;

/// A replayed tick. Its number is kept modulo 2³¹.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Turn(NonZeroU32);

impl Turn {
    /// The tick that allocates, if it is replayed.
    #[inline]
    pub(super) fn now(table: &StreamTable) -> Option<Self> {
        table.replayed_tick().map(Self::of)
    }

    pub(super) const fn of(tick: u64) -> Self {
        Self(NonZeroU32::MIN.saturating_add(tick as u32 & (u32::MAX >> 1)))
    }

    /// The number of the tick's set among so many: a power of two, so that the numbers of ticks may wrap around.
    fn set(self, count: usize) -> usize {
        (self.0.get() - 1) as usize % count
    }
}

/// A block, as far as the choice depends on it.
pub(super) trait InTurns {
    fn address(&self) -> u64;
    /// Whether all its uses are on the stream with this number.
    fn is_used_only_on(&mut self, stream: u32) -> bool;
    /// The replayed tick that it was last allocated in.
    fn turn(&self) -> Option<Turn>;
}

/// The free blocks of replayed ticks, of one size and stream.
pub(super) struct Sets<B>(Box<[Set<B>]>);

struct Set<B> {
    /// The tick that has used it last.
    turn: Option<Turn>,
    /// Free since before that tick. The next to take is the last.
    before: Vec<B>,
    /// Returned since that tick began, the latest last.
    returned: Vec<B>,
}

impl<B: InTurns> Set<B> {
    /// A tick takes a block: its first one finds all that came back, in the order of addresses.
    fn begin(&mut self, turn: Turn) {
        if self.turn.replace(turn) != Some(turn) {
            self.collect();
        }
    }

    /// All free blocks are as those from before the tick.
    fn collect(&mut self) {
        self.before.append(&mut self.returned);
        self.before.sort_unstable_by_key(|block| Reverse(block.address()));
    }

    /// A block that the same tick has returned, and that the stream needs no wait for.
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
    /// As many sets as there may be ticks in flight: 1, 2 or 4, so that sizes with other limits repeat together.
    pub(super) fn new(in_flight: usize) -> Self {
        let count = 1 << in_flight.clamp(1, MOST).ilog2();
        let set = || Set { turn: None, before: Vec::new(), returned: Vec::new() };
        Self((0..count).map(|_| set()).collect())
    }

    fn of(&mut self, turn: Turn) -> &mut Set<B> {
        let place = turn.set(self.0.len());
        &mut self.0[place]
    }

    /// Takes back a block of a replayed tick.
    pub(super) fn put_back(&mut self, turn: Turn, block: B) {
        self.of(turn).returned.push(block);
    }

    /// Whether there is no block.
    pub(super) fn is_empty(&self) -> bool {
        self.0.iter().all(|set| set.before.is_empty() && set.returned.is_empty())
    }

    /// Takes any block.
    pub(super) fn pop(&mut self) -> Option<B> {
        self.0.iter_mut().find_map(Set::pop)
    }
}

/// The bounds of the sets of a size.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    /// How many ticks may be in flight.
    pub(super) ticks: usize,
    /// How many blocks of a tick may be free, and in use by the device, before the oldest of them is used again.
    pub(super) blocks: usize,
    /// Whether there is room for another block.
    pub(super) may_grow: bool,
}

impl<B: InTurns> Sets<B> {
    /// A free block for a replayed tick. The block's uses may be unordered; `None` if a new one is to be made. `loose` are
    /// the blocks of no set.
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
        // A block of no tick, or one that a call outside of ticks has moved.
        let found = found.or_else(|| take_loose(loose, turn, count));
        if found.is_some() || (bounds.may_grow && set.returned.len() < bounds.blocks) {
            return found;
        }
        if !set.returned.is_empty() {
            return Some(set.returned.remove(0));
        }
        // No room: of the other sets the least recently used one, whose blocks the device has most likely done with.
        let next = turn.set(count) + 1;
        (0..count).find_map(|place| self.0[(next + place) % count].pop())
    }

    /// Takes the block of a tick's set that is taken after so many others, to look at it.
    pub(super) fn take_nth(&mut self, turn: Turn, nth: usize) -> Option<B> {
        let set = self.of(turn);
        set.begin(turn);
        match nth.checked_sub(set.before.len()) {
            None => Some(set.before.remove(set.before.len() - nth - 1)),
            // The blocks that this tick has returned itself: else each of its allocations would be new memory.
            Some(place) => (place < set.returned.len()).then(|| set.returned.remove(place)),
        }
    }

    /// Puts a block back that was looked at.
    pub(super) fn put_nth(&mut self, turn: Turn, nth: usize, block: B) {
        let set = self.of(turn);
        match nth.checked_sub(set.before.len()) {
            None | Some(0) => set.before.insert(set.before.len() - nth, block),
            Some(place) => set.returned.insert(place.min(set.returned.len()), block),
        }
    }

    /// Moves all blocks to others.
    #[cold]
    pub(super) fn end(&mut self, to: &mut VecDeque<B>) {
        for set in &mut self.0 {
            set.turn = None;
            set.collect();
            to.extend(set.before.drain(..).rev());
        }
    }
}

/// Takes a block of no set: one that this tick's set had before, or else the oldest.
fn take_loose<B: InTurns>(blocks: &mut VecDeque<B>, turn: Turn, count: usize) -> Option<B> {
    let is_own = |before: Turn| before.set(count) == turn.set(count);
    let own = blocks.iter().position(|block| block.turn().is_some_and(is_own));
    blocks.remove(own.unwrap_or(0))
}
