//! Vector clocks over streams.

/// A vector clock. For the index of each stream, it contains the latest epoch of that stream that the clock's owner comes
/// after. Epoch 0 comes before all work.
///
/// The epoch of a stream rises whenever the stream's clock is copied, as by a record or a synchronisation. So an owner whose
/// clock has epoch `e` of a stream also comes after everything that this stream came after in epoch `e`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Clock(Vec<u64>);

/// The number of entries in a group. The length of a clock is a multiple of it, so that entries are copied and compared in
/// groups.
const GROUP: usize = 4;

impl Clock {
    /// The latest epoch of `stream` that the clock's owner comes after.
    #[inline(always)]
    pub(super) fn get(&self, stream: u32) -> u64 {
        self.0.get(stream as usize).copied().unwrap_or(0)
    }

    /// The entries, at the indices of their streams. A stream beyond the end has epoch 0.
    #[inline(always)]
    pub(super) fn entries(&self) -> &[u64] {
        &self.0
    }

    #[inline(always)]
    pub(super) fn raise(&mut self, stream: u32, epoch: u64) {
        let stream = stream as usize;
        if self.0.len() <= stream {
            self.resize(stream + 1);
        }
        if let Some(entry) = self.0.get_mut(stream) {
            *entry = epoch.max(*entry);
        }
    }

    /// Raises each entry to the entry of `other`, if that is larger. Returns whether any entry was raised.
    #[inline(always)]
    pub(super) fn merge(&mut self, other: &Self) -> bool {
        if self.0.len() < other.0.len() {
            self.resize(other.0.len());
        }
        let mut risen = false;
        for (own, theirs) in self.0.as_chunks_mut::<GROUP>().0.iter_mut().zip(other.groups()) {
            for (own, &theirs) in own.iter_mut().zip(theirs) {
                risen |= *own < theirs;
                *own = (*own).max(theirs);
            }
        }
        risen
    }

    /// For each stream: raises the entry to the smaller of the entries in `a` and `b`, if that is larger.
    pub(super) fn merge_common(&mut self, a: &Self, b: &Self) {
        if self.0.len() < a.0.len().min(b.0.len()) {
            self.resize(a.0.len().min(b.0.len()));
        }
        for (own, (a, b)) in self.0.iter_mut().zip(a.0.iter().zip(&b.0)) {
            *own = (*own).max(*a.min(b));
        }
    }

    /// Lowers each entry to the entry of `other`, if that is smaller.
    pub(super) fn keep_common(&mut self, other: &Self) {
        for (stream, own) in self.0.iter_mut().enumerate() {
            *own = (*own).min(other.get(stream as u32));
        }
    }

    /// Makes this clock equal to `other`, and reuses this clock's memory.
    #[inline(always)]
    pub(super) fn copy_from(&mut self, other: &Self) {
        if self.0.len() != other.0.len() {
            self.resize(other.0.len());
        }
        // A loop is faster than a call of `memcpy`, since clocks are short.
        let own = self.0.as_chunks_mut::<GROUP>().0;
        own.iter_mut().zip(other.groups()).for_each(|(own, theirs)| *own = *theirs);
    }

    #[inline(always)]
    fn groups(&self) -> &[[u64; GROUP]] {
        self.0.as_chunks().0
    }

    #[cold]
    #[inline(never)]
    fn resize(&mut self, streams: usize) {
        self.0.resize(streams.next_multiple_of(GROUP), 0);
    }

    /// Removes all entries: the owner comes after nothing. The memory stays.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_merge_keeps_the_later_of_each() {
        let (mut a, mut b) = (Clock::default(), Clock::default());
        a.raise(0, 5);
        a.raise(2, 1);
        b.raise(0, 3);
        b.raise(4, 9);
        assert!(a.merge(&b));
        assert_eq!([0, 1, 2, 3, 4, 5].map(|stream| a.get(stream)), [5, 0, 1, 0, 9, 0]);
        assert!(!a.merge(&b), "nothing new");
        a.raise(0, 4);
        assert_eq!(a.get(0), 5, "never falls");
        b.copy_from(&a);
        assert_eq!(a, b);
    }

    #[test]
    fn what_two_clocks_have_in_common_is_the_earlier_of_each() {
        let [mut a, mut b, mut own] = [const { Clock(Vec::new()) }; 3];
        [(0, 5), (1, 1), (6, 2)].iter().for_each(|(stream, epoch)| a.raise(*stream, *epoch));
        [(0, 3), (1, 4)].iter().for_each(|(stream, epoch)| b.raise(*stream, *epoch));
        own.raise(1, 2);
        own.merge_common(&a, &b);
        assert_eq!([0, 1, 6].map(|stream| own.get(stream)), [3, 2, 0]);
        a.keep_common(&b);
        assert_eq!([0, 1, 6].map(|stream| a.get(stream)), [3, 1, 0]);
    }
}
