use super::*;
use crate::splitmix::SplitMix;

/// An array of random size, of which the tests access parts.
struct Array {
    size: u64,
    /// The length of each dimension, and its stride in bytes; the innermost first.
    dims: Vec<(u64, u64)>,
}

/// An access, and each of its bytes, computed one by one from its elements.
struct Access {
    range: MemoryRange,
    rows: Option<Rows>,
    bytes: Vec<bool>,
}

impl Access {
    /// Creates an access to the elements of `size` bytes that levels in any order make.
    fn new(address: u64, size: u64, levels: &[RowLevel]) -> Self {
        let (mut starts, mut last) = (vec![address], 0);
        for RowLevel { count, pitch } in levels {
            let repeated = starts.iter().flat_map(|at| (0..*count).map(move |i| at + i * pitch));
            starts = repeated.collect();
            last += (count - 1) * pitch;
        }
        let mut bytes = vec![false; 4096];
        for start in starts {
            bytes[start as usize..(start + size) as usize].fill(true);
        }
        let range = MemoryRange { address, bytes: last + size };
        Self { range, rows: Rows::new(size, levels.iter().copied()), bytes }
    }

    /// Compares the bytes of the access's rows, or of its range if it has no rows, with the bytes of its elements.
    fn check(&self) {
        let mut bytes = vec![false; 4096];
        let mut add =
            |part: MemoryRange| bytes[part.address as usize..part.end() as usize].fill(true);
        match self.rows {
            None => add(self.range),
            Some(rows) => rows.at(self.range.address).for_each(add),
        }
        assert!(bytes == self.bytes, "{:?} {:?}", self.range, self.rows);
    }

    fn described(&self) -> (MemoryRange, Option<Rows>) {
        (self.range, self.rows)
    }
}

struct Random(SplitMix);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0.below(limit as usize) as u64
    }

    /// Creates an array of up to 8 dimensions and some 1000 bytes in all, perhaps with padding.
    fn array(&mut self) -> Array {
        let size = [1, 1, 2, 3, 4, 8][self.below(6) as usize];
        let (rank, pads) = (self.below(9), self.below(3));
        let (mut dims, mut stride) = (Vec::new(), size);
        for _ in 0..rank {
            let len = 1 + self.below(if rank > 5 { 3 } else { 5 });
            if len * stride > 1000 {
                break;
            }
            dims.push((len, stride));
            stride *= len;
            if pads > 0 && self.below(3) == 0 {
                stride += self.below(3) * if pads == 1 { size } else { 1 };
            }
        }
        Array { size, dims }
    }

    /// Creates an access to a part of an array, with its dimensions in any order.
    fn part(&mut self, base: u64, Array { size, dims }: &Array) -> Access {
        let (mut address, mut levels) = (base, Vec::new());
        for (len, pitch) in dims {
            let first = if self.below(2) == 0 { 0 } else { self.below(*len) };
            let count = 1 + self.below(len - first);
            address += first * pitch;
            let level = RowLevel { count, pitch: *pitch };
            levels.insert(self.below(levels.len() as u64 + 1) as usize, level);
        }
        Access::new(address, *size, &levels)
    }
}

/// Compares the answer of [`overlap`] with the bytes themselves. Returns whether the accesses are disjoint although
/// their ranges overlap, and the number of tries per row.
fn compare(a: &Access, b: &Access) -> (bool, u64) {
    a.check();
    b.check();
    let wanted = a.bytes.iter().zip(&b.bytes).any(|(a, b)| *a && *b);
    let (one, other, mut tries) = (a.described(), b.described(), 0);
    assert_eq!(overlap_counted(one, other, &mut tries), wanted, "{one:?} {other:?}");
    assert_eq!(overlap(other, one), wanted, "{other:?} {one:?}");
    let rows = |access: &Access| access.rows.map_or(1, |rows| rows.count());
    (!wanted && a.range.overlaps(b.range), tries.div_ceil(rows(a) + rows(b)))
}

/// The pairs of accesses are parts of one array, and parts of two unrelated arrays.
#[test]
fn accesses_overlap_if_they_have_a_byte_in_common() {
    let mut random = Random(SplitMix::new(76));
    let (mut disjoint, mut most) = ([0; 2], 0);
    for turn in 0..10_000 {
        let (one, other) = (random.array(), random.array());
        let base = 8 * random.below(32);
        let a = random.part(base, &one);
        let kind = turn % 2;
        let (base, array) =
            if kind == 0 { (base, &one) } else { (base + random.below(64), &other) };
        let b = random.part(base, array);
        let (is_disjoint, tries) = compare(&a, &b);
        disjoint[kind] += usize::from(is_disjoint);
        most = most.max(tries);
    }
    assert!(disjoint.iter().all(|count| *count > 250), "{disjoint:?}");
    assert!(most <= 1, "{most} tries for each row");
}

/// The levels here belong to no array: their rows lie in each other's gaps, or overlap.
#[test]
fn any_levels_are_compared_exactly() {
    let mut random = Random(SplitMix::new(77));
    let (mut disjoint, mut overlapping) = (0, 0);
    for _ in 0..6_000 {
        let mut access = || {
            let size = 1 + random.below(4);
            let levels: Vec<_> = (0..random.below(9))
                .map(|_| RowLevel { count: 1 + random.below(3), pitch: 1 + random.below(120) })
                .collect();
            Access::new(random.below(400), size, &levels)
        };
        let (a, b) = (access(), access());
        if compare(&a, &b).0 {
            disjoint += 1;
        } else {
            overlapping += 1;
        }
    }
    assert!(disjoint > 150 && overlapping > 150, "{disjoint} {overlapping}");
}

/// Compares accesses to the two halves of each row of an image. Each half has gaps of its own.
#[test]
fn large_parts_are_compared_without_counting_rows() {
    let rows = |levels: &[(u64, u64)]| {
        Rows::new(1, levels.iter().map(|(count, pitch)| RowLevel { count: *count, pitch: *pitch }))
    };
    let all = |address, levels: &[(u64, u64)]| {
        let last: u64 = levels.iter().map(|(count, pitch)| (count - 1) * pitch).sum();
        (MemoryRange { address, bytes: last + 1 }, rows(levels))
    };
    let million = 1_000_000;
    let pairs = [
        // Two halves of each row, with equal pitches.
        (all(0, &[(32, 3), (million, 192)]), all(96, &[(32, 3), (million, 192)]), false),
        (all(0, &[(33, 3), (million, 192)]), all(96, &[(32, 3), (million, 192)]), true),
        // Two layouts with different pitches: each has its own half of each 1024 bytes.
        (all(0, &[(40, 7), (million, 2048)]), all(512, &[(20, 11), (million, 3072)]), false),
        (all(0, &[(81, 7), (million, 2048)]), all(512, &[(20, 11), (million, 3072)]), false),
        (all(0, &[(82, 7), (million, 2048)]), all(512, &[(20, 11), (million, 3072)]), true),
        // Two layouts whose pitches have no common divisor have a byte in common.
        (all(0, &[(2, 7), (million, 1009)]), all(500, &[(2, 11), (million, 1013)]), true),
    ];
    for (a, b, wanted) in pairs {
        let mut tries = 0;
        assert_eq!(overlap_counted(a, b, &mut tries), wanted, "{a:?} {b:?}");
        assert!(tries < 100, "{tries} tries for {a:?} {b:?}");
    }
}

/// A range without bytes overlaps no other range, wherever it begins.
#[test]
fn nothing_overlaps_no_bytes() {
    let range = |address, bytes| (MemoryRange { address, bytes }, None);
    let gapped = Rows::new(2, [RowLevel { count: 3, pitch: 4 }]);
    for address in 90..120 {
        for other in [range(100, 10), (MemoryRange { address: 100, bytes: 10 }, gapped)] {
            assert!(!overlap(range(address, 0), other) && !overlap(other, range(address, 0)));
        }
    }
}

/// Views with the same elements are equal, whatever the order of their dimensions.
#[test]
fn levels_are_sorted_and_joined() {
    let level = |count, pitch| RowLevel { count, pitch };
    let rows = |bytes, levels: &[RowLevel]| Rows::new(bytes, levels.iter().copied());
    assert_eq!(rows(4, &[level(5, 4), level(7, 20)]), None);
    assert_eq!(rows(4, &[level(1, 400)]), None);
    let Some(gapped) = rows(4, &[level(3, 24), level(4, 4), level(2, 72), level(1, 9)]) else {
        unreachable!("there are gaps")
    };
    assert_eq!((gapped.bytes(), gapped.levels()), (16, &[level(6, 24)][..]));
    assert_eq!(gapped.count(), 6);
    assert_eq!(Some(gapped), rows(4, &[level(4, 4), level(6, 24)]));
    assert_eq!(gapped, Rows::with_levels(16, &[level(6, 24)]));
    assert_eq!(gapped.at(100).last(), Some(MemoryRange { address: 220, bytes: 16 }));
}
