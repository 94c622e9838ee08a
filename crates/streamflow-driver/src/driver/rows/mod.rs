//! The bytes of an access or of a copy that leaves gaps, and whether two accesses have a byte in common.

mod sums;

use std::iter;

use arrayvec::ArrayVec;

use self::sums::Sums;
use super::{CopyOp, MemoryRange};

/// The most levels of gaps within gaps: as many as a tensor has dimensions.
pub(super) const MAX_LEVELS: usize = 8;

/// Which bytes of a range are accessed, if not all: rows of [`bytes`](Self::bytes) with gaps between them. There are gaps of up to
/// eight kinds, so that each view of a tensor is described exactly. The range begins and ends with a row.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Rows {
    bytes: u64,
    count: u8,
    /// Those after `count` are zero.
    levels: [RowLevel; MAX_LEVELS],
}

/// How rows are repeated, or groups of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RowLevel {
    /// How many there are: at least two.
    pub count: u64,
    /// From the start of each to that of the next one, in bytes.
    pub pitch: u64,
}

impl Rows {
    /// Elements of `bytes`, repeated at each level, in any order of the levels. `None` if there is no gap, so that all bytes from
    /// the first to the last are accessed.
    #[doc(hidden)]
    pub fn new(
        bytes: u64,
        levels: impl IntoIterator<Item = RowLevel, IntoIter: Clone>,
    ) -> Option<Self> {
        let levels = levels.into_iter().filter(|level| level.count > 1).take(MAX_LEVELS);
        let mut rows = Self::without_levels(bytes);
        if !levels.clone().all(|level| rows.add(level)) {
            let mut sorted: ArrayVec<RowLevel, MAX_LEVELS> = levels.collect();
            sorted.sort_unstable_by_key(|level| level.pitch);
            rows = Self::without_levels(bytes);
            sorted.into_iter().all(|level| rows.add(level));
        }
        (rows.count > 0).then_some(rows)
    }

    fn without_levels(bytes: u64) -> Self {
        Self { bytes, count: 0, levels: [RowLevel::default(); MAX_LEVELS] }
    }

    /// Adds a level with at least the pitch of the last one. `false` if its pitch is smaller.
    fn add(&mut self, RowLevel { count, pitch }: RowLevel) -> bool {
        let len = usize::from(self.count);
        match self.levels[..len].last_mut() {
            // Without a gap, they are one longer row.
            None if pitch <= self.bytes => self.bytes += (count - 1) * pitch,
            Some(last) if pitch < last.pitch => return false,
            // The level goes on where the last one ends: together they are one.
            Some(last) if last.count.checked_mul(last.pitch) == Some(pitch) => last.count *= count,
            _ => {
                self.levels[len] = RowLevel { count, pitch };
                self.count += 1;
            }
        }
        true
    }

    /// The bytes of a row.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// How the rows are repeated: first the rows, then groups of rows, and so on. The pitches rise.
    pub fn levels(&self) -> &[RowLevel] {
        &self.levels[..usize::from(self.count)]
    }

    /// Rows with levels that were [theirs](Self::levels).
    pub(super) fn with_levels(bytes: u64, levels: &[RowLevel]) -> Self {
        let mut rows = Self::without_levels(bytes);
        for (place, level) in rows.levels.iter_mut().zip(levels) {
            *place = *level;
            rows.count += 1;
        }
        rows
    }

    /// How many rows there are.
    pub(super) fn count(&self) -> u64 {
        self.levels().iter().fold(1, |count, level| count.saturating_mul(level.count))
    }

    /// The rows from an address on.
    pub(super) fn at(self, address: u64) -> impl Iterator<Item = MemoryRange> + use<> {
        (0..self.count()).map(move |mut row| {
            let mut start = address;
            for level in self.levels() {
                start += row % level.count * level.pitch;
                row /= level.count;
            }
            MemoryRange { address: start, bytes: self.bytes }
        })
    }
}

impl std::fmt::Debug for Rows {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "rows of {} bytes", self.bytes)?;
        self.levels()
            .iter()
            .try_for_each(|RowLevel { count, pitch }| write!(f, ", {count} x {pitch}"))
    }
}

/// The rows of a copy, as those of CUDA's `cuMemcpy2DAsync`. Each side has a pitch of its own, and at least one has gaps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CopyRows {
    /// The bytes of a row.
    pub bytes: u64,
    /// How many rows there are.
    pub count: u64,
    /// From the start of a row to that of the next one, in the source: at least `bytes`, at most [`MAX_PITCH`](Self::MAX_PITCH).
    pub source_pitch: u64,
    /// As `source_pitch`, in the target.
    pub target_pitch: u64,
    /// Whether the gaps of the target are padding. A [race checker](super::race) then counts it as written with the rows, as
    /// that of a kernel's argument.
    pub target_is_padded: bool,
}

impl CopyRows {
    /// The largest pitch that a copy can have. It is `CU_DEVICE_ATTRIBUTE_MAX_PITCH`, which is this number on every device.
    pub const MAX_PITCH: u64 = i32::MAX as u64;

    /// How many bytes a side has from its first row to its last. `None` if it is too large for a number.
    #[doc(hidden)]
    pub fn span(&self, pitch: u64) -> Option<u64> {
        let Some(gaps) = self.count.checked_sub(1) else { return Some(0) };
        gaps.checked_mul(pitch)?.checked_add(self.bytes)
    }

    /// The bytes of a side, if not all.
    #[doc(hidden)]
    pub fn side(&self, pitch: u64) -> Option<Rows> {
        Rows::new(self.bytes, iter::once(RowLevel { count: self.count, pitch }))
    }
}

impl CopyOp {
    /// How many bytes are copied.
    #[doc(hidden)]
    pub fn bytes(&self) -> u64 {
        self.rows.map_or(self.source.bytes, |rows| rows.bytes * rows.count)
    }

    /// Which bytes of the source are read, if not all.
    pub(crate) fn source_rows(&self) -> Option<Rows> {
        self.rows.and_then(|rows| rows.side(rows.source_pitch))
    }

    /// Which bytes of the target are written, or count as written, if not all.
    pub(crate) fn target_rows(&self) -> Option<Rows> {
        let rows = self.rows.filter(|rows| !rows.target_is_padded)?;
        rows.side(rows.target_pitch)
    }
}

/// Whether two accesses have a byte in common: the bytes of the range, or those of its rows. The answer is exact.
///
/// A row of the first access begins at `a + i`, where `i` is a sum of its pitches, and one of the second at `b + j`. They have a
/// byte in common if `i - j` lies between `b - a - (a_bytes - 1)` and `b - a + (b_bytes - 1)`. The sums `j` from 0 to their
/// largest are also the largest minus such a sum. So it is a question about one sum of the pitches of both: see
/// [`sums`].
pub(super) fn overlap(a: (MemoryRange, Option<Rows>), b: (MemoryRange, Option<Rows>)) -> bool {
    overlap_counted(a, b, &mut 0)
}

/// As [`overlap`]. `tries` counts the steps of the comparison.
fn overlap_counted(
    (a, a_rows): (MemoryRange, Option<Rows>),
    (b, b_rows): (MemoryRange, Option<Rows>),
    tries: &mut u64,
) -> bool {
    if !a.overlaps(b) {
        return false;
    }
    let bytes = |range: MemoryRange, rows: &Option<Rows>| rows.map_or(range.bytes, |it| it.bytes);
    let offset = i128::from(b.address) - i128::from(a.address);
    let mut low = offset - i128::from(bytes(a, &a_rows)) + 1;
    let mut high = offset + i128::from(bytes(b, &b_rows)) - 1;
    let mut sums = Sums::default();
    for RowLevel { count, pitch } in a_rows.iter().flat_map(Rows::levels) {
        sums.add(*pitch, count - 1);
    }
    for RowLevel { count, pitch } in b_rows.iter().flat_map(Rows::levels) {
        sums.add(*pitch, count - 1);
        let largest = i128::from(*pitch) * i128::from(count - 1);
        (low, high) = (low + largest, high + largest);
    }
    sums.reach(low, high, tries)
}

#[cfg(all(test, not(loom)))]
mod tests;
