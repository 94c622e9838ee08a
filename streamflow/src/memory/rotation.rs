//! Which free block an allocation gets in a tick that is [replayed](crate::driver::replay).
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
//! Each set grows to what a tick has at once, and by as many blocks as may be [in flight](super::MemoryOptions): so
//! memory is bounded, by the number of sets times that.

use std::collections::VecDeque;
use std::num::NonZeroU32;

use super::pooled::{PooledBlock, SizeClass};
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

    const fn of(tick: u64) -> Self {
        Self(NonZeroU32::MIN.saturating_add(tick as u32 & (u32::MAX >> 1)))
    }

    /// Which of so many sets is the tick's: a power of two, so that the numbers of ticks may wrap around.
    fn set(self, count: usize) -> usize {
        (self.0.get() - 1) as usize % count
    }
}

/// The free blocks of replayed ticks, of one size and stream.
pub(super) struct Sets<P>(Box<[Set<P>]>);

struct Set<P> {
    /// The tick that has used it last.
    turn: Option<Turn>,
    /// Free since before that tick. The next to take is the last.
    before: Vec<Box<PooledBlock<P>>>,
    /// Returned since that tick began, the latest last.
    returned: Vec<Box<PooledBlock<P>>>,
}

impl<P> Set<P> {
    /// A tick takes a block: its first one finds all that came back, in the order of addresses.
    fn begin(&mut self, turn: Turn) {
        if self.turn.replace(turn) != Some(turn) {
            self.before.append(&mut self.returned);
            let address = |block: &Box<PooledBlock<P>>| block.range().address;
            self.before.sort_unstable_by(|one, other| address(other).cmp(&address(one)));
        }
    }

    /// A block that the same tick has returned, and that the stream needs no wait for.
    fn take_returned(&mut self, stream: u32) -> Option<Box<PooledBlock<P>>> {
        let first = self.returned.len().saturating_sub(LATEST);
        let late = self.returned[first..].iter_mut();
        let place = late.rev().position(|block| block.is_used_only_on(stream))?;
        Some(self.returned.remove(self.returned.len() - 1 - place))
    }

    fn pop(&mut self) -> Option<Box<PooledBlock<P>>> {
        self.before.pop().or_else(|| self.returned.pop())
    }
}

impl<P> Sets<P> {
    /// As many sets as there may be ticks in flight: 1, 2 or 4, so that sizes with other limits repeat together.
    fn new(in_flight: usize) -> Self {
        let count = 1 << in_flight.clamp(1, MOST).ilog2();
        let set = || Set { turn: None, before: Vec::new(), returned: Vec::new() };
        Self((0..count).map(|_| set()).collect())
    }

    fn of(&mut self, turn: Turn) -> &mut Set<P> {
        let place = turn.set(self.0.len());
        &mut self.0[place]
    }

    /// Takes back a block of a replayed tick.
    pub(super) fn put_back(&mut self, turn: Turn, block: Box<PooledBlock<P>>) {
        self.of(turn).returned.push(block);
    }

    /// Takes any block.
    pub(super) fn pop(&mut self) -> Option<Box<PooledBlock<P>>> {
        self.0.iter_mut().find_map(Set::pop)
    }
}

/// What limits the sets of a size.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    /// How many ticks may be in flight.
    pub(super) ticks: usize,
    /// How many blocks of a tick may be free, and in use by the device, before the oldest of them is used again.
    pub(super) blocks: usize,
    /// Whether there is room for another block.
    pub(super) may_grow: bool,
}

impl<P> SizeClass<P> {
    /// A free block for a replayed tick, of which the uses may be unordered; `None` if a new one is to be made.
    pub(super) fn take_in_turn(
        &mut self,
        turn: Turn,
        stream: u32,
        bounds: Bounds,
    ) -> Option<Box<PooledBlock<P>>> {
        let sets = self.sets.get_or_insert_with(|| Box::new(Sets::new(bounds.ticks)));
        let count = sets.0.len();
        let set = sets.of(turn);
        set.begin(turn);
        let found = set.take_returned(stream).or_else(|| set.before.pop());
        // A block of no tick, or one that a call outside of ticks has moved.
        let found = found.or_else(|| take_loose(&mut self.blocks, turn, count));
        if found.is_some() || (bounds.may_grow && set.returned.len() < bounds.blocks) {
            return found;
        }
        if !set.returned.is_empty() {
            return Some(set.returned.remove(0));
        }
        // No room: of the other sets that which is used again last.
        let next = turn.set(count) + 1;
        (0..count).find_map(|place| sets.0[(next + place) % count].pop())
    }

    /// Takes the block of a replayed tick's set that is taken after so many others, to look at it.
    pub(super) fn take_nth(
        &mut self,
        turn: Turn,
        ticks: usize,
        nth: usize,
    ) -> Option<Box<PooledBlock<P>>> {
        let set = self.sets.get_or_insert_with(|| Box::new(Sets::new(ticks))).of(turn);
        set.begin(turn);
        let place = set.before.len().checked_sub(nth + 1)?;
        Some(set.before.remove(place))
    }

    /// Puts a block back that was looked at.
    pub(super) fn put_nth(&mut self, turn: Turn, nth: usize, block: Box<PooledBlock<P>>) {
        let Some(sets) = &mut self.sets else { return self.blocks.push_back(block) };
        let set = sets.of(turn);
        set.before.insert(set.before.len().saturating_sub(nth), block);
    }

    /// Moves the blocks of ticks to the others: an allocation outside of replayed ticks takes any.
    #[cold]
    pub(super) fn end_turns(&mut self) {
        let Self { sets, blocks, .. } = self;
        for set in sets.iter_mut().flat_map(|sets| sets.0.iter_mut()) {
            set.begin_anew();
            blocks.extend(set.before.drain(..).rev());
        }
    }
}

impl<P> Set<P> {
    fn begin_anew(&mut self) {
        if let Some(turn) = self.turn.take() {
            self.begin(turn);
        }
    }
}

/// Takes a block of no set: one that this tick's set had before, or else the oldest.
fn take_loose<P>(
    blocks: &mut VecDeque<Box<PooledBlock<P>>>,
    turn: Turn,
    count: usize,
) -> Option<Box<PooledBlock<P>>> {
    let is_own = |block: &Box<PooledBlock<P>>| {
        block.turn.is_some_and(|before| before.set(count) == turn.set(count))
    };
    let own = blocks.iter().position(is_own);
    blocks.remove(own.unwrap_or(0))
}
