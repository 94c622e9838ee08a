//! The bytes of an access or of a copy that leaves gaps.

use super::{CopyOp, MemoryRange};

/// Which bytes of a range are accessed, if not all: rows of `bytes`, each `pitch` after the one before. The range begins
/// and ends with a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rows {
    /// The bytes of a row.
    pub bytes: u64,
    /// From the start of a row to that of the next one: more than `bytes`.
    pub pitch: u64,
}

impl Rows {
    /// How many rows a range has.
    pub(super) fn count(&self, range: MemoryRange) -> u64 {
        range.bytes.div_ceil(self.pitch)
    }

    /// The rows of a range.
    pub(super) fn of(&self, range: MemoryRange) -> impl Iterator<Item = MemoryRange> + use<> {
        let Self { bytes, pitch } = *self;
        (0..self.count(range)).map(move |row| {
            let start = row * pitch;
            MemoryRange { address: range.address + start, bytes: bytes.min(range.bytes - start) }
        })
    }

    /// Whether a row of a range overlaps other bytes.
    fn touches(&self, range: MemoryRange, other: MemoryRange) -> bool {
        let from = other.address.max(range.address) - range.address;
        let to = other.end().min(range.end()).saturating_sub(range.address);
        from < to && (from % self.pitch < self.bytes || (from / self.pitch + 1) * self.pitch < to)
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
    pub(crate) fn span(&self, pitch: u64) -> Option<u64> {
        let Some(gaps) = self.count.checked_sub(1) else { return Some(0) };
        gaps.checked_mul(pitch)?.checked_add(self.bytes)
    }

    /// The bytes of a side, if not all.
    pub(crate) fn side(&self, pitch: u64) -> Option<Rows> {
        (pitch > self.bytes && self.count > 1).then_some(Rows { bytes: self.bytes, pitch })
    }
}

impl CopyOp {
    /// How many bytes are copied.
    pub(crate) fn bytes(&self) -> u64 {
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

/// Whether two accesses have a byte in common. With gaps of different pitches each row is compared.
pub(super) fn overlap(
    (a, a_rows): (MemoryRange, Option<Rows>),
    (b, b_rows): (MemoryRange, Option<Rows>),
) -> bool {
    a.overlaps(b)
        && match (a_rows, b_rows) {
            (None, None) => true,
            (Some(rows), None) => rows.touches(a, b),
            (None, Some(rows)) => rows.touches(b, a),
            (Some(rows), Some(others)) => {
                rows.of(a).any(|row| row.overlaps(b) && others.touches(b, row))
            }
        }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each pair of small accesses, against the bytes themselves.
    #[test]
    fn accesses_overlap_if_they_have_a_byte_in_common() {
        let bytes = |(range, rows): (MemoryRange, Option<Rows>)| -> Vec<u64> {
            let whole = |range: MemoryRange| range.address..range.end();
            match rows {
                None => whole(range).collect(),
                Some(rows) => rows.of(range).flat_map(whole).collect(),
            }
        };
        let mut all = Vec::new();
        for address in 100..108 {
            all.extend((1..9).map(|bytes| (MemoryRange { address, bytes }, None)));
            for (row, pitch) in [(1, 2), (1, 3), (2, 3), (2, 5), (3, 4)] {
                for count in 2..4 {
                    let range = MemoryRange { address, bytes: (count - 1) * pitch + row };
                    all.push((range, Some(Rows { bytes: row, pitch })));
                }
            }
        }
        let mut disjoint = 0;
        for a in &all {
            for b in &all {
                let (of_a, of_b) = (bytes(*a), bytes(*b));
                let wanted = of_a.iter().any(|byte| of_b.contains(byte));
                assert_eq!(overlap(*a, *b), wanted, "{a:?} {b:?}");
                disjoint += usize::from(!wanted && a.0.overlaps(b.0));
            }
        }
        assert!(disjoint > 100);
    }
}
