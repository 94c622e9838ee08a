//! The footprint of a trace: the ranges of memory that it accesses, and those that it writes.

use super::trace::Trace;
use crate::driver::{AccessMode, MemoryRange};

/// Ranges of addresses in ascending order, none of which overlap or touch.
type Ranges = Vec<(u64, u64)>;

/// The memory that a trace accesses.
#[derive(Debug, Default)]
pub(super) struct Footprint {
    all: Ranges,
    written: Ranges,
}

impl Footprint {
    pub(super) fn of(trace: &Trace) -> Self {
        let mut footprint = Self::default();
        trace.accesses(|range: MemoryRange, mode| {
            if range.bytes == 0 {
                return;
            }
            footprint.all.push((range.address, range.end()));
            if mode == AccessMode::Write {
                footprint.written.push((range.address, range.end()));
            }
        });
        merge(&mut footprint.all);
        merge(&mut footprint.written);
        footprint
    }

    /// Whether one of the two traces writes memory that the other accesses.
    pub(super) fn conflicts(&self, other: &Self) -> bool {
        overlap(&self.written, &other.all) || overlap(&other.written, &self.all)
    }
}

fn merge(ranges: &mut Ranges) {
    ranges.sort_unstable();
    ranges.dedup_by(|next, before| {
        let joins = next.0 <= before.1;
        if joins {
            before.1 = before.1.max(next.1);
        }
        joins
    });
}

fn overlap(one: &[(u64, u64)], other: &[(u64, u64)]) -> bool {
    let (mut i, mut j) = (0, 0);
    while let (Some(a), Some(b)) = (one.get(i), other.get(j)) {
        if a.0 < b.1 && b.0 < a.1 {
            return true;
        }
        if a.1 <= b.1 { i += 1 } else { j += 1 }
    }
    false
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_merged_and_overlaps_are_found() {
        let mut ranges = vec![(8, 12), (0, 4), (4, 6), (20, 30), (22, 24)];
        merge(&mut ranges);
        assert_eq!(ranges, [(0, 6), (8, 12), (20, 30)]);
        for (other, found) in [((6, 8), false), ((5, 6), true), ((11, 40), true), ((30, 31), false)]
        {
            assert_eq!(overlap(&ranges, &[other]), found, "{other:?}");
            assert_eq!(overlap(&[other], &ranges), found, "{other:?}");
        }
    }

    #[test]
    fn two_readers_don_t_conflict() {
        let reads = Footprint { all: vec![(0, 8)], written: vec![] };
        let writes = Footprint { all: vec![(4, 6)], written: vec![(4, 6)] };
        assert!(!reads.conflicts(&reads));
        assert!(reads.conflicts(&writes) && writes.conflicts(&reads) && writes.conflicts(&writes));
    }
}
