//! The bytes of an access or of a copy that leaves gaps, and the test whether two accesses have a byte in common.

mod sums;

use std::iter;

use arrayvec::ArrayVec;

use self::sums::Sums;
use super::{CopyOp, MemoryRange};

/// The most levels of gaps within gaps: as many as a tensor can have dimensions.
pub(super) const MAX_LEVELS: usize = 8;

/// The accessed bytes of a range that is not accessed whole: rows of [`bytes`](Self::bytes) contiguous bytes, with gaps
/// between them. There are gaps of up to eight kinds, so that each view of a tensor is described exactly. The range
/// begins and ends with a row.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Rows {
    bytes: u64,
    count: u8,
    /// The levels: the first `count` are used, and the others are zero.
    levels: [RowLevel; MAX_LEVELS],
}

/// The repetition of a row, or of a group of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RowLevel {
    /// The number of rows or groups: at least two.
    pub count: u64,
    /// The distance from the start of a row or group to the start of the next one, in bytes.
    pub pitch: u64,
}

impl Rows {
    /// Creates rows from elements of `bytes`, repeated at each level, in any order of the levels. Returns `None` if there is no
    /// gap, so that all bytes from the first to the last are accessed.
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

    /// Adds a level with at least the pitch of the last level. Returns `false` if its pitch is smaller.
    fn add(&mut self, RowLevel { count, pitch }: RowLevel) -> bool {
        let len = usize::from(self.count);
        match self.levels[..len].last_mut() {
            // Rows that follow each other without a gap become one longer row.
            None if pitch <= self.bytes => self.bytes += (count - 1) * pitch,
            Some(last) if pitch < last.pitch => return false,
            // The rows of the new level continue those of the last level without a break, so the two become one level.
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

    /// The repetitions of the rows: first of rows, then of groups of rows, and so on. The pitches rise.
    pub fn levels(&self) -> &[RowLevel] {
        &self.levels[..usize::from(self.count)]
    }

    /// Creates rows from levels that [`levels`](Self::levels) returned.
    pub(super) fn with_levels(bytes: u64, levels: &[RowLevel]) -> Self {
        let mut rows = Self::without_levels(bytes);
        for (place, level) in rows.levels.iter_mut().zip(levels) {
            *place = *level;
            rows.count += 1;
        }
        rows
    }

    /// The number of rows.
    pub(super) fn count(&self) -> u64 {
        self.levels().iter().fold(1, |count, level| count.saturating_mul(level.count))
    }

    /// The rows as ranges, from an address on.
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

/// The rows of a copy, as of CUDA's `cuMemcpy2DAsync`. Each side has a pitch of its own, and at least one side has gaps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CopyRows {
    /// The bytes of a row.
    pub bytes: u64,
    /// The number of rows.
    pub count: u64,
    /// The bytes from the start of a row to the start of the next row in the source: at least `bytes`, at most
    /// [`MAX_PITCH`](Self::MAX_PITCH).
    pub source_pitch: u64,
    /// The bytes from the start of a row to the start of the next row in the target, with the same limits as `source_pitch`.
    pub target_pitch: u64,
    /// Whether the gaps of the target are padding. A [race checker](super::race) then counts the padding as written with the
    /// rows, as it does for a kernel's argument.
    pub target_is_padded: bool,
}

impl CopyRows {
    /// The largest pitch that a copy can have: `CU_DEVICE_ATTRIBUTE_MAX_PITCH` is this number on every device.
    pub const MAX_PITCH: u64 = i32::MAX as u64;

    /// The number of bytes of a side from its first row to its last; `None` if the number is too large.
    #[doc(hidden)]
    pub fn span(&self, pitch: u64) -> Option<u64> {
        let Some(gaps) = self.count.checked_sub(1) else { return Some(0) };
        gaps.checked_mul(pitch)?.checked_add(self.bytes)
    }

    /// Returns the accessed bytes of one side of the copy as rows; `None` if the side has no gaps.
    #[doc(hidden)]
    pub fn side(&self, pitch: u64) -> Option<Rows> {
        Rows::new(self.bytes, iter::once(RowLevel { count: self.count, pitch }))
    }
}

impl CopyOp {
    /// The number of bytes that are copied.
    #[doc(hidden)]
    pub fn bytes(&self) -> u64 {
        self.rows.map_or(self.source.bytes, |rows| rows.bytes * rows.count)
    }

    /// The rows of the source that the copy reads; `None` if it reads the whole range.
    pub(crate) fn source_rows(&self) -> Option<Rows> {
        self.rows.and_then(|rows| rows.side(rows.source_pitch))
    }

    /// The rows of the target that the copy writes, or that count as written; `None` if that is the whole range.
    pub(crate) fn target_rows(&self) -> Option<Rows> {
        let rows = self.rows.filter(|rows| !rows.target_is_padded)?;
        rows.side(rows.target_pitch)
    }
}

/// Whether two accesses have a byte in common. An access covers the bytes of its rows, or without rows its whole range.
/// The answer is exact.
///
/// A row of the first access begins at `a + i`, where `i` is a sum of its pitches, and a row of the second at `b + j`. The two
/// rows have a byte in common if `i - j` lies between `b - a - (a_bytes - 1)` and `b - a + (b_bytes - 1)`. Each sum `j` is also
/// the largest such sum minus another sum. So the question is about one sum of the pitches of both accesses: see [`sums`].
pub(super) fn overlap(a: (MemoryRange, Option<Rows>), b: (MemoryRange, Option<Rows>)) -> bool {
    overlap_counted(a, b, &mut 0)
}

/// Compares two accesses as [`overlap`] does. `tries` counts the steps of the comparison.
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
