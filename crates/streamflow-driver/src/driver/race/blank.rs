//! The unwritten bytes of an allocation: those that nobody has written since it was allocated, or since the memory passed to
//! a new owner.
//!
//! Fills, copies and uploads write, and so does a kernel to each argument that it may write. A read of an unwritten byte is
//! reported. Three kinds of memory count as written: page-locked memory, since the host can write it without a call; memory
//! whose address left streamflow, by `read_raw`, `write_raw` or a declared foreign access, until it passes to a new owner;
//! and memory that was not allocated through the checker.

use std::ops::Range;

use super::access::{Access, Findings};
use crate::driver::MemoryRange;

/// The most unwritten ranges that are remembered for one allocation. More occur only if writes of many parts leave gaps.
const MAX_RANGES: usize = 1024;

/// The unwritten ranges of an allocation. Each is stored as the access that made its bytes undefined: the allocation, or the
/// passing to a new owner. The ranges are sorted and don't overlap, so a binary search finds those that an access overlaps.
#[derive(Debug, Default)]
pub(super) struct Blank(Vec<Access>);

impl Blank {
    /// Adds the range of `begin`, an allocation or a passing to a new owner: its bytes are unwritten now.
    pub(super) fn add(&mut self, begin: Access, found: &mut Findings) {
        if begin.range.bytes > 0 {
            self.remove(begin.range, found);
            let at = self.overlapping(begin.range).start;
            self.0.insert(at, begin);
            self.forget_some(found);
        }
    }

    /// Removes the bytes of a range: they were written, or other code may write them.
    pub(super) fn remove(&mut self, written: MemoryRange, found: &mut Findings) {
        let overlapping = self.overlapping(written);
        let Some([first, ..]) = self.0.get(overlapping.clone()) else { return };
        let first = *first;
        let last = self.0[overlapping.end - 1];
        let at = overlapping.start;
        self.0.drain(overlapping);
        let before = between(first.range.address, written.address);
        let after = between(written.end(), last.range.end());
        for (rest, begin) in [(after, last), (before, first)] {
            if rest.bytes > 0 {
                self.0.insert(at, Access { range: rest, ..begin });
            }
        }
        self.forget_some(found);
    }

    /// Removes the first ranges while there are more than [`MAX_RANGES`]. Their bytes then count as written.
    fn forget_some(&mut self, found: &mut Findings) {
        while self.0.len() > MAX_RANGES {
            self.0.remove(0);
            found.forgotten += 1;
        }
    }

    /// The indices of the unwritten ranges that overlap `range`.
    fn overlapping(&self, range: MemoryRange) -> Range<usize> {
        let start = self.0.partition_point(|blank| blank.range.end() <= range.address);
        let rest = &self.0[start..];
        start..start + rest.partition_point(|blank| blank.range.address < range.end())
    }

    /// Returns the first unwritten range that overlaps `range`, as the access that made its bytes undefined.
    pub(super) fn first_in(&self, range: MemoryRange) -> Option<Access> {
        self.0.get(self.overlapping(range))?.first().copied()
    }

    /// Whether any byte of `range` is unwritten.
    pub(super) fn overlaps(&self, range: MemoryRange) -> bool {
        !self.overlapping(range).is_empty()
    }
}

/// The range from one address to another; empty if the second address is not higher.
fn between(from: u64, to: u64) -> MemoryRange {
    MemoryRange { address: from, bytes: to.saturating_sub(from) }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::driver::AccessMode;
    use crate::driver::race::access::Origin;

    fn range(from: u64, to: u64) -> MemoryRange {
        MemoryRange { address: 0x7000 + from, bytes: to - from }
    }

    fn begin(from: u64, to: u64, tick: u64) -> Access {
        let origin = Origin { epoch: 1, tick, stream: 0, site: 0 };
        Access { range: range(from, to), mode: AccessMode::Write, argument: "", rows: None, origin }
    }

    fn first(blank: &Blank, from: u64, to: u64) -> Option<(MemoryRange, u64)> {
        blank.first_in(range(from, to)).map(|begin| (begin.range, begin.origin.tick))
    }

    #[test]
    fn what_is_left_is_what_nobody_wrote() {
        let (mut blank, mut found) = (Blank::default(), Findings::default());
        assert!(!blank.overlaps(range(0, 4096)));
        blank.add(begin(0, 4096, 1), &mut found);
        assert_eq!(first(&blank, 100, 104), Some((range(0, 4096), 1)));
        blank.remove(range(1000, 2000), &mut found);
        assert_eq!(first(&blank, 1000, 2000), None);
        assert_eq!(first(&blank, 999, 1001), Some((range(0, 1000), 1)));
        assert_eq!(first(&blank, 1999, 2001), Some((range(2000, 4096), 1)));
        blank.remove(range(0, 1500), &mut found);
        blank.remove(range(3000, 5000), &mut found);
        assert_eq!(first(&blank, 0, 4096), Some((range(2000, 3000), 1)));
        // A part of the memory passes to a new owner, so its bytes are unwritten again.
        blank.add(begin(2500, 3500, 2), &mut found);
        assert_eq!(first(&blank, 2600, 2700), Some((range(2500, 3500), 2)));
        assert_eq!(first(&blank, 0, 4096), Some((range(2000, 2500), 1)));
        blank.remove(range(2000, 3500), &mut found);
        assert!(!blank.overlaps(range(0, 4096)));
    }
    /// Writes every other byte, in a scattered order.
    #[test]
    fn strided_writes_look_at_few_ranges() {
        const STRIDED: u64 = 10_007;
        let (mut blank, mut found) = (Blank::default(), Findings::default());
        blank.add(begin(0, 2 * STRIDED, 1), &mut found);
        let mut looked_at = 0;
        for number in 0..STRIDED {
            let at = 2 * (number * 5003 % STRIDED);
            looked_at += blank.overlapping(range(at, at + 1)).len() as u64;
            blank.remove(range(at, at + 1), &mut found);
            assert!(blank.0.len() <= MAX_RANGES);
        }
        assert!(looked_at <= STRIDED, "{looked_at} ranges for {STRIDED} writes");
        assert!(blank.0.is_sorted_by_key(|blank| blank.range.address));
        // Each unwritten byte is in a range, or its range was removed and counted.
        let kept =
            (0..STRIDED).filter(|gap| blank.overlaps(range(2 * gap + 1, 2 * gap + 2))).count();
        assert!(kept as u64 + found.forgotten >= MAX_RANGES as u64);
        assert!(kept > 0 && found.forgotten > 0);
    }
}
