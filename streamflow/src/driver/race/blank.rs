//! The bytes of an allocation that nobody has written since it began.

use super::access::Access;
use crate::driver::MemoryRange;

/// Bytes that were not written since they were allocated, or since they passed to a new owner: ranges that do not
/// overlap, in no order.
#[derive(Debug, Default)]
pub(super) struct Blank(Vec<(MemoryRange, Access)>);

impl Blank {
    /// The content of a range is not defined any more: by `begin`, the memory was allocated or passed to a new owner.
    pub(super) fn add(&mut self, begin: Access) {
        self.remove(begin.range);
        self.0.push((begin.range, begin));
    }

    /// The bytes of a range were written, or may be.
    pub(super) fn remove(&mut self, written: MemoryRange) {
        let mut index = 0;
        while let Some((range, begin)) = self.0.get(index).copied() {
            if !range.overlaps(written) {
                index += 1;
                continue;
            }
            self.0.swap_remove(index);
            let before = between(range.address, written.address);
            let after = between(written.end(), range.end());
            let rest = [before, after].into_iter().filter(|rest| rest.bytes > 0);
            // They don't overlap `written`, so they are not looked at again for long.
            rest.for_each(|rest| self.0.push((rest, begin)));
        }
    }

    /// The first bytes of a range that nobody has written: how the memory began, with those bytes as its range.
    pub(super) fn first_in(&self, range: MemoryRange) -> Option<Access> {
        let overlapping = self.0.iter().filter(|(blank, _)| blank.overlaps(range));
        let (blank, begin) = overlapping.min_by_key(|(blank, _)| blank.address)?;
        Some(Access { range: *blank, ..*begin })
    }

    /// Whether bytes of a range were not written.
    pub(super) fn overlaps(&self, range: MemoryRange) -> bool {
        self.0.iter().any(|(blank, _)| blank.overlaps(range))
    }
}

/// The bytes from one address to another; none if that is not higher.
fn between(from: u64, to: u64) -> MemoryRange {
    MemoryRange { address: from, bytes: to.saturating_sub(from) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::AccessMode;
    use crate::driver::race::access::Origin;

    fn range(from: u64, to: u64) -> MemoryRange {
        MemoryRange { address: 0x7000 + from, bytes: to - from }
    }

    fn begin(from: u64, to: u64, tick: u64) -> Access {
        let origin = Origin { epoch: 1, tick, stream: 0, site: 0 };
        Access { range: range(from, to), mode: AccessMode::Write, argument: "", origin }
    }

    fn first(blank: &Blank, from: u64, to: u64) -> Option<(MemoryRange, u64)> {
        blank.first_in(range(from, to)).map(|begin| (begin.range, begin.origin.tick))
    }

    #[test]
    fn what_is_left_is_what_nobody_wrote() {
        let mut blank = Blank::default();
        assert!(!blank.overlaps(range(0, 4096)));
        blank.add(begin(0, 4096, 1));
        assert_eq!(first(&blank, 100, 104), Some((range(0, 4096), 1)));
        blank.remove(range(1000, 2000));
        assert_eq!(first(&blank, 1000, 2000), None);
        assert_eq!(first(&blank, 999, 1001), Some((range(0, 1000), 1)));
        assert_eq!(first(&blank, 1999, 2001), Some((range(2000, 4096), 1)));
        blank.remove(range(0, 1500));
        blank.remove(range(3000, 5000));
        assert_eq!(first(&blank, 0, 4096), Some((range(2000, 3000), 1)));
        // A part begins anew.
        blank.add(begin(2500, 3500, 2));
        assert_eq!(first(&blank, 2600, 2700), Some((range(2500, 3500), 2)));
        assert_eq!(first(&blank, 0, 4096), Some((range(2000, 2500), 1)));
        blank.remove(range(2000, 3500));
        assert!(!blank.overlaps(range(0, 4096)));
    }
}
