//! Which records of other streams a stream has waited for.

use std::sync::atomic::{AtomicU64, Ordering};

/// Streams whose entry lies in place; more are possible, and a little slower.
const IN_PLACE: usize = 64;

/// By stream number: the latest record that was waited for.
///
/// It may be read and raised by several threads without a lock. An entry that is raised by two at
/// once may keep the lower number, and then a wait is issued that was not needed.
///
/// What it costs to copy and to merge grows with the streams that were waited for, and not with those
/// that there are.
#[derive(Debug)]
pub(super) struct Clock {
    in_place: [AtomicU64; IN_PLACE],
    /// The bits of the entries in place that were ever raised, set after the entry.
    known: AtomicU64,
    more: boxcar::Vec<AtomicU64>,
}

/// The entries of a [`Clock`] at some moment.
#[derive(Debug)]
pub(super) struct Copied {
    known: u64,
    /// Only the known entries count.
    in_place: [u64; IN_PLACE],
    more: Vec<u64>,
}

/// Calls `visit` with each stream whose bit is set.
#[inline]
fn for_each(mut bits: u64, mut visit: impl FnMut(usize)) {
    while bits != 0 {
        // Below 64, and so the compiler knows that it is.
        visit(bits.trailing_zeros() as usize % IN_PLACE);
        bits &= bits - 1;
    }
}

impl Copied {
    /// Of a clock that has waited for nothing.
    pub(super) fn new() -> Self {
        Self { known: 0, in_place: [0; IN_PLACE], more: Vec::new() }
    }

    /// The latest record of `stream` that was waited for; 0 for none.
    pub(super) fn get(&self, stream: u32) -> u64 {
        let stream = stream as usize;
        match self.in_place.get(stream) {
            Some(number) if self.known & (1 << stream) != 0 => *number,
            Some(_) => 0,
            None => self.more.get(stream - IN_PLACE).copied().unwrap_or(0),
        }
    }

    /// Shows each stream that was waited for, and its latest record that was.
    pub(super) fn for_each(&self, mut visit: impl FnMut(u32, u64)) {
        for_each(self.known, |stream| visit(stream as u32, self.in_place[stream]));
        let more = self.more.iter().enumerate().filter(|(_, number)| **number > 0);
        more.for_each(|(index, number)| visit((IN_PLACE + index) as u32, *number));
    }
}

fn raise(entry: &AtomicU64, number: u64) {
    if entry.load(Ordering::Relaxed) < number {
        entry.store(number, Ordering::Release);
    }
}

impl Clock {
    pub(super) fn new() -> Self {
        Self {
            in_place: [const { AtomicU64::new(0) }; IN_PLACE],
            known: AtomicU64::new(0),
            more: boxcar::Vec::new(),
        }
    }

    /// The latest record of `stream` that was waited for; 0 for none.
    #[inline]
    pub(super) fn get(&self, stream: u32) -> u64 {
        let stream = stream as usize;
        let entry = match self.in_place.get(stream) {
            None => self.more.get(stream - IN_PLACE),
            entry => entry,
        };
        entry.map_or(0, |entry| entry.load(Ordering::Acquire))
    }

    /// Notes a wait for record `number` of `stream`, after the wait was queued.
    pub(super) fn raise(&self, stream: u32, number: u64) {
        match self.in_place.get(stream as usize) {
            Some(entry) => {
                raise(entry, number);
                self.learn(1 << stream);
            }
            None => self.raise_more(stream as usize - IN_PLACE, number),
        }
    }

    /// Notes all waits of `other`.
    pub(super) fn merge(&self, other: &Copied) {
        for_each(other.known, |stream| raise(&self.in_place[stream], other.in_place[stream]));
        self.learn(other.known);
        for (index, &number) in other.more.iter().enumerate() {
            self.raise_more(index, number);
        }
    }

    /// Copies all entries, and `number` for `stream`. Whatever else is in the copy was queued before.
    pub(super) fn copy_into(&self, copy: &mut Copied, stream: u32, number: u64) {
        let stream = stream as usize;
        copy.known = self.known.load(Ordering::Acquire);
        for_each(copy.known, |stream| {
            copy.in_place[stream] = self.in_place[stream].load(Ordering::Acquire);
        });
        if let Some(own) = copy.in_place.get_mut(stream) {
            *own = number;
            copy.known |= 1 << stream;
        }
        copy.more.clear();
        if stream >= IN_PLACE || self.more.count() > 0 {
            copy.more.extend(self.more.iter().map(|(_, entry)| entry.load(Ordering::Acquire)));
            if let Some(index) = stream.checked_sub(IN_PLACE) {
                copy.more.resize(copy.more.len().max(index + 1), 0);
                copy.more[index] = number;
            }
        }
    }

    /// Forgets all waits: what they were for is of no interest to the stream's next holder.
    pub(super) fn forget(&self) {
        let known = self.known.swap(0, Ordering::AcqRel);
        for_each(known, |stream| self.in_place[stream].store(0, Ordering::Release));
    }

    fn learn(&self, streams: u64) {
        // Nearly always known: then the line stays shared.
        if streams & !self.known.load(Ordering::Relaxed) != 0 {
            self.known.fetch_or(streams, Ordering::AcqRel);
        }
    }

    fn raise_more(&self, index: usize, number: u64) {
        if number == 0 {
            return;
        }
        while index >= self.more.count() {
            self.more.push(AtomicU64::new(0));
        }
        if let Some(entry) = self.more.get(index) {
            raise(entry, number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_rise_and_never_fall() {
        let clock = Clock::new();
        for stream in [3, 63, 64, 200] {
            assert_eq!(clock.get(stream), 0);
            clock.raise(stream, 7);
            clock.raise(stream, 5);
            assert_eq!(clock.get(stream), 7);
        }
        assert_eq!(clock.get(199), 0);
    }

    #[test]
    fn a_copy_merges_into_another() {
        let (from, into) = (Clock::new(), Clock::new());
        from.raise(2, 9);
        from.raise(63, 5);
        from.raise(100, 4);
        into.raise(2, 10);
        let mut copy = Copied::new();
        from.copy_into(&mut copy, 3, 6);
        into.merge(&copy);
        let all = [2, 100, 0, 3, 63, 99].map(|stream| into.get(stream));
        assert_eq!(all, [10, 4, 0, 6, 5, 0]);
        from.copy_into(&mut copy, 200, 1);
        into.merge(&copy);
        assert_eq!((into.get(200), into.get(199), into.get(100)), (1, 0, 4));
    }

    #[test]
    fn what_was_forgotten_is_not_copied() {
        let clock = Clock::new();
        clock.raise(5, 2);
        clock.forget();
        clock.raise(6, 3);
        let (mut copy, into) = (Copied::new(), Clock::new());
        clock.copy_into(&mut copy, 7, 1);
        into.merge(&copy);
        assert_eq!([5, 6, 7].map(|stream| into.get(stream)), [0, 3, 1]);
    }
}
