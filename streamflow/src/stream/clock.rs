//! Which records of other streams a stream has waited for.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Streams whose entry lies in place; more are possible, and a little slower.
const IN_PLACE: usize = 64;

/// By stream number: the latest record that was waited for.
///
/// It may be read and raised by several threads without a lock. An entry that is raised by two at
/// once may keep the lower number, and then a wait is issued that was not needed.
#[derive(Debug)]
pub(super) struct Clock {
    in_place: [AtomicU64; IN_PLACE],
    more: boxcar::Vec<AtomicU64>,
    /// One more than the highest stream number with an entry.
    width: AtomicUsize,
}

impl Clock {
    pub(super) fn new() -> Self {
        Self {
            in_place: [const { AtomicU64::new(0) }; IN_PLACE],
            more: boxcar::Vec::new(),
            width: AtomicUsize::new(0),
        }
    }

    /// The latest record of `stream` that was waited for; 0 for none.
    #[inline]
    pub(super) fn get(&self, stream: u32) -> u64 {
        self.entry(stream as usize).map_or(0, |entry| entry.load(Ordering::Acquire))
    }

    /// Notes a wait for record `number` of `stream`, after the wait was queued.
    pub(super) fn raise(&self, stream: u32, number: u64) {
        self.raise_entry(stream as usize, number);
    }

    /// Notes all waits of `other`.
    pub(super) fn merge(&self, other: &[u64]) {
        let near = other.len().min(IN_PLACE);
        if near > self.width.load(Ordering::Relaxed) {
            self.width.fetch_max(near, Ordering::AcqRel);
        }
        for (entry, &number) in self.in_place.iter().zip(other) {
            if entry.load(Ordering::Relaxed) < number {
                entry.store(number, Ordering::Release);
            }
        }
        for (stream, &number) in other.iter().enumerate().skip(IN_PLACE) {
            self.raise_entry(stream, number);
        }
    }

    /// Copies all entries, and `number` for `stream`. Whatever else is in the copy was queued before.
    pub(super) fn copy_into(&self, copy: &mut Vec<u64>, stream: u32, number: u64) {
        let width = self.width.load(Ordering::Acquire);
        copy.clear();
        copy.extend(self.in_place.iter().take(width).map(|entry| entry.load(Ordering::Acquire)));
        if width > IN_PLACE {
            copy.extend((IN_PLACE..width).map(|stream| self.get(stream as u32)));
        }
        let stream = stream as usize;
        if copy.len() <= stream {
            copy.resize(stream + 1, 0);
        }
        copy[stream] = number;
    }

    fn raise_entry(&self, stream: usize, number: u64) {
        if stream >= self.width.load(Ordering::Relaxed) {
            while stream >= IN_PLACE + self.more.count() {
                self.more.push(AtomicU64::new(0));
            }
            self.width.fetch_max(stream + 1, Ordering::AcqRel);
        }
        if let Some(entry) = self.entry(stream)
            && entry.load(Ordering::Relaxed) < number
        {
            entry.store(number, Ordering::Release);
        }
    }

    fn entry(&self, stream: usize) -> Option<&AtomicU64> {
        match self.in_place.get(stream) {
            None => self.more.get(stream - IN_PLACE),
            entry => entry,
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
        from.raise(100, 4);
        into.raise(2, 10);
        let mut copy = vec![1, 2, 3];
        from.copy_into(&mut copy, 3, 6);
        assert_eq!(copy.len(), 101);
        into.merge(&copy);
        assert_eq!([2, 100, 0, 3].map(|stream| into.get(stream)), [10, 4, 0, 6]);
        from.copy_into(&mut copy, 200, 1);
        into.merge(&copy);
        assert_eq!((into.get(200), into.get(199)), (1, 0));
    }
}
