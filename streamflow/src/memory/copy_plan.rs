//! The plan of a copy between views with gaps: the driver's copies that together copy all elements, with their rows.

use arrayvec::ArrayVec;

use super::MAX_RANK;
use crate::driver::{CopyKind, CopyOp, CopyRows, MemoryRange};

/// A dimension of the source and of the target of a copy: its length, and its stride in each, in elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Dim {
    len: usize,
    source: usize,
    target: usize,
}

/// The plan of a copy: a row, and the dimensions in which rows are repeated.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct CopyPlan {
    /// The number of elements of a row. The elements of a row follow each other in the source and in the target.
    row: usize,
    /// The dimensions in which rows are repeated, innermost first. Two dimensions without a gap between them are merged into
    /// one.
    outer: ArrayVec<Dim, MAX_RANK>,
}

impl CopyPlan {
    /// Creates the plan for `len` elements that follow each other in the source and in the target.
    pub(super) fn run(len: usize) -> Self {
        Self { row: len, outer: ArrayVec::new() }
    }

    /// Creates the plan of a copy between two views of this shape, with these strides. `None` if the elements along the last
    /// dimension don't follow each other in one of the views.
    pub(super) fn new(shape: &[usize], source: &[usize], target: &[usize]) -> Option<Self> {
        if shape.contains(&0) {
            return Some(Self::run(0));
        }
        let strides = source.iter().zip(target);
        let dims = shape.iter().zip(strides).rev().map(|(&len, (&source, &target))| Dim {
            len,
            source,
            target,
        });
        let mut plan = Self::run(1);
        for (index, dim) in dims.enumerate() {
            if dim.len == 1 {
                continue;
            }
            let row = plan.row;
            if index == 0 && (dim.source, dim.target) != (1, 1) {
                return None;
            }
            match plan.outer.last_mut() {
                None if (dim.source, dim.target) == (row, row) => plan.row *= dim.len,
                Some(last) if last.continues_in(dim) => last.len *= dim.len,
                _ => plan.outer.push(dim),
            }
        }
        Some(plan)
    }

    /// Returns the driver's copies for this plan, for elements of `size` bytes at these addresses of source and target. Each
    /// copy of the driver copies all rows of the longest dimension.
    pub(super) fn copies(
        &self,
        kind: CopyKind,
        size: usize,
        source: u64,
        target: u64,
    ) -> impl Iterator<Item = CopyOp> + use<'_> {
        let bytes = move |elements: usize| (elements * size) as u64;
        let fits = move |dim: &Dim| bytes(dim.source.max(dim.target)) <= CopyRows::MAX_PITCH;
        let within = self.outer.iter().enumerate().filter(|(_, dim)| fits(dim));
        let longest = within.max_by_key(|(_, dim)| dim.len).map(|(index, _)| index);
        let rows = longest.map(|index| self.outer[index]).map(|dim| CopyRows {
            bytes: bytes(self.row),
            count: dim.len as u64,
            source_pitch: bytes(dim.source),
            target_pitch: bytes(dim.target),
            target_is_padded: false,
        });
        let span = |pitch: fn(&CopyRows) -> u64| {
            rows.map_or(bytes(self.row), |rows| (rows.count - 1) * pitch(&rows) + rows.bytes)
        };
        let (from, to) = (span(|rows| rows.source_pitch), span(|rows| rows.target_pitch));
        let others =
            self.outer.iter().enumerate().filter(move |(index, _)| Some(*index) != longest);
        let count: usize = others.clone().map(|(_, dim)| dim.len).product();
        (0..count).map(move |mut index| {
            let (mut source, mut target) = (source, target);
            for (_, dim) in others.clone() {
                let at = index % dim.len;
                source += bytes(at * dim.source);
                target += bytes(at * dim.target);
                index /= dim.len;
            }
            let source = MemoryRange { address: source, bytes: from };
            let target = MemoryRange { address: target, bytes: to };
            CopyOp { kind, target, source, rows }
        })
    }
}

impl Dim {
    /// Whether this dimension and `outer` can be merged: in both views, `outer` continues where this dimension ends.
    fn continues_in(&self, outer: Dim) -> bool {
        (self.len * self.source, self.len * self.target) == (outer.source, outer.target)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    /// Returns the elements that a plan copies, as pairs of addresses, and the number of the driver's copies.
    fn pairs(plan: &CopyPlan) -> (Vec<(u64, u64)>, usize) {
        let mut all = Vec::new();
        let mut count = 0;
        for copy in plan.copies(CopyKind::DeviceToDevice, 1, 1000, 5000) {
            count += 1;
            let whole = CopyRows {
                bytes: copy.source.bytes,
                count: 1,
                source_pitch: 0,
                target_pitch: 0,
                target_is_padded: false,
            };
            let rows = copy.rows.unwrap_or(whole);
            assert_eq!(Some(copy.source.bytes), rows.span(rows.source_pitch));
            assert_eq!(Some(copy.target.bytes), rows.span(rows.target_pitch));
            for row in 0..rows.count {
                let source = copy.source.address + row * rows.source_pitch;
                let target = copy.target.address + row * rows.target_pitch;
                all.extend((0..rows.bytes).map(|byte| (source + byte, target + byte)));
            }
        }
        all.sort_unstable();
        (all, count)
    }

    /// For all pairs of small views of three dimensions with padding, a plan copies the same elements to the same addresses as
    /// a copy element by element.
    #[test]
    fn each_element_is_copied_once_to_its_place() {
        let lens = [0, 1, 2, 3];
        let pads = [0, 1, 2];
        let strides = |[_, b, c]: [usize; 3], [p, q]: [usize; 2]| {
            let row = c + p;
            [(b + q) * row.max(1), row.max(1), 1]
        };
        let mut most = 0;
        for shape in lens.map(|a| lens.map(|b| lens.map(|c| [a, b, c]))).concat().concat() {
            for of in pads.map(|p| pads.map(|q| [p, q])).concat() {
                for to in pads.map(|p| pads.map(|q| [p, q])).concat() {
                    let (source, target) = (strides(shape, of), strides(shape, to));
                    let plan = CopyPlan::new(&shape, &source, &target).unwrap();
                    let [a, b, c] = shape;
                    let mut wanted = Vec::new();
                    for (i, j, k) in
                        (0..a * b * c).map(|at| (at / (b * c), at / c % b.max(1), at % c.max(1)))
                    {
                        let at = |strides: [usize; 3]| {
                            (i * strides[0] + j * strides[1] + k * strides[2]) as u64
                        };
                        wanted.push((1000 + at(source), 5000 + at(target)));
                    }
                    wanted.sort_unstable();
                    let (found, count) = pairs(&plan);
                    assert_eq!(found, wanted, "{shape:?} {source:?} {target:?}");
                    most = most.max(count);
                }
            }
        }
        assert_eq!(most, 3, "a part of three dimensions needs several copies");
    }

    #[test]
    fn padded_arrays_of_any_rank_are_one_copy() {
        let dense = [60, 20, 5, 1];
        let padded = [12 * 512, 4 * 512, 512, 1];
        for (source, target) in [(dense, padded), (padded, dense), (padded, padded)] {
            let plan = CopyPlan::new(&[2, 3, 4, 5], &source, &target).unwrap();
            assert_eq!((plan.row, plan.outer.len(), plan.outer[0].len), (5, 1, 24));
        }
        assert_eq!(CopyPlan::new(&[2, 3, 4, 5], &dense, &dense), Some(CopyPlan::run(120)));
    }

    #[test]
    fn a_row_with_gaps_is_refused() {
        assert_eq!(CopyPlan::new(&[3, 4], &[1, 3], &[4, 1]), None);
        assert_eq!(CopyPlan::new(&[3, 4], &[4, 1], &[8, 2]), None);
        // Each row of a column has one element.
        let column = CopyPlan::new(&[3, 1], &[4, 1], &[1, 1]).unwrap();
        assert_eq!((column.row, column.outer[0].len), (1, 3));
    }

    /// Rows whose distance is more than the driver's largest pitch are copied one by one.
    #[test]
    fn a_pitch_beyond_the_limit_needs_a_copy_for_each_row() {
        for (pitch, copies) in [(CopyRows::MAX_PITCH as usize, 1), (1 << 31, 3)] {
            let plan = CopyPlan::new(&[3, 4], &[pitch, 1], &[4, 1]).unwrap();
            let found: Vec<_> = plan.copies(CopyKind::DeviceToPinned, 1, 0, 0).collect();
            assert_eq!((found.len(), found[0].rows.is_some()), (copies, copies == 1));
            assert_eq!(found[copies - 1].source.end(), 2 * pitch as u64 + 4);
        }
    }
}
