//! The positions in memory of the elements of transforms.

use crate::error::{Result, wrong_operand};

/// The most dimensions of a transform.
pub(crate) const MOST: usize = 3;

/// The positions of the elements of a batch of transforms, counted in elements, as in cuFFT's advanced layout. Without
/// a layout, transforms are dense: each transform follows the one before, and is stored in rows.
///
/// The element `[x, y, z]` of transform `b`, embedded in `[_, e1, e2]`, has the index
/// `b * distance + ((x * e1 + y) * e2 + z) * stride`; with fewer dimensions, `x` and `y` are 0.
///
/// ```
/// use streamflow_math::fft::Layout;
///
/// // The 16 columns of a matrix of 32 rows.
/// let columns = Layout::embedded([32]).stride(16).distance(1);
/// // Windows of 512 samples, each 128 after the one before: as an input, they may overlap.
/// let windows = Layout::embedded([512]).distance(128);
/// // Images of 480 rows of 640 within rows of 704, one after the other.
/// let padded = Layout::embedded([480, 704]);
/// ```
#[must_use = "pass it to `input` or `output` of a plan"]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    rank: usize,
    /// The lengths of the array. The last `rank` numbers are the caller's; the others are 1.
    embed: [usize; MOST],
    stride: usize,
    /// The distance between transforms; `None` if each transform directly follows the one before.
    distance: Option<usize>,
}

impl Layout {
    /// Describes transforms that are parts of arrays with these lengths, the last dimension varying fastest. The first
    /// length is not needed to find an element: it determines where the next transform begins, unless
    /// [`distance`](Self::distance) is called.
    pub const fn embedded<const N: usize>(lengths: [usize; N]) -> Self {
        const { assert!(N >= 1 && N <= MOST, "a transform has 1 to 3 dimensions") };
        let (mut embed, mut i) = ([1; MOST], 0);
        while i < N {
            embed[MOST - N + i] = lengths[i];
            i += 1;
        }
        Self { rank: N, embed, stride: 1, distance: None }
    }

    /// Sets the distance between neighbours in the last dimension: 1 without this call.
    #[must_use = "it returns the layout with this stride"]
    pub const fn stride(self, elements: usize) -> Self {
        Self { stride: elements, ..self }
    }

    /// Sets the distance between the first elements of neighbouring transforms: without this call, the size of the array
    /// that embeds a transform, times the stride.
    #[must_use = "it returns the layout with this distance"]
    pub const fn distance(self, elements: usize) -> Self {
        Self { distance: Some(elements), ..self }
    }
}

/// The input or the output of a plan, with its checked layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Side {
    /// The lengths of a transform on this side. With fewer than three dimensions, the first lengths are 1.
    pub(crate) lengths: [usize; MOST],
    pub(crate) embed: [usize; MOST],
    pub(crate) stride: usize,
    pub(crate) distance: usize,
    /// The least number of elements that an operand on this side must have.
    pub(crate) span: usize,
    /// Whether an operand has exactly `span` elements, so that each belongs to a transform.
    pub(crate) is_dense: bool,
}

/// The arguments from which a [`Side`] is made: the lengths of the transforms and the side's role.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted {
    /// The side's name in messages: `input` or `output`.
    pub(crate) argument: &'static str,
    pub(crate) call: &'static str,
    pub(crate) rank: usize,
    pub(crate) lengths: [usize; MOST],
    pub(crate) batch: usize,
    /// Whether the transform writes the elements. If so, no two elements may have the same index.
    pub(crate) is_written: bool,
}

impl Side {
    /// # Errors
    /// [`Error::Operand`](crate::Error::Operand) for a layout that does not fit, that has overlapping elements which are written, or that is too
    /// large.
    pub(crate) fn new(wanted: &Wanted, layout: Option<Layout>) -> Result<Self> {
        let Wanted { argument, call, rank, lengths, batch, is_written } = *wanted;
        let refuse = |problem| Err(wrong_operand(call, argument, problem));
        let (embed, stride, distance) = match layout {
            Some(layout) if layout.rank != rank => {
                return refuse(format!(
                    "is embedded in {} dimension(s), but the transform has {rank}; write {rank} lengths",
                    layout.rank
                ));
            }
            Some(layout) => (layout.embed, layout.stride, layout.distance),
            None => (lengths, 1, None),
        };
        if let Some(d) = (0..MOST).find(|&d| embed[d] < lengths[d]) {
            let (embed, length) = (embed[d], lengths[d]);
            let d = d + rank - MOST;
            return refuse(format!(
                "is embedded in {embed} elements of dimension {d}, but a transform has {length} there; write at least \
                 {length}"
            ));
        }
        if stride == 0 || distance == Some(0) {
            return refuse(format!(
                "has a stride of {stride} and a distance of {distance:?}; write at least 1 for each"
            ));
        }
        let sizes = || {
            let distance = match distance {
                Some(distance) => distance,
                None => product(embed)?.checked_mul(stride)?,
            };
            let last = [0, 1, 2].map(|d| lengths[d] - 1);
            let rows = last[0].checked_mul(embed[1])?.checked_add(last[1])?;
            let within = rows.checked_mul(embed[2])?.checked_add(last[2])?.checked_mul(stride)?;
            let before = batch.saturating_sub(1).checked_mul(distance)?;
            let span = if batch == 0 { 0 } else { before.checked_add(within)?.checked_add(1)? };
            // cuFFT takes signed 64-bit numbers. The limit counts bytes, of which an element has at most 16.
            (span.checked_mul(16)? <= i64::MAX as usize).then_some((distance, within, span))
        };
        let Some((distance, within, span)) = sizes() else {
            return refuse(
                "has more elements than addresses can have; make the batch smaller".into(),
            );
        };
        let side = Self { lengths, embed, stride, distance, span, is_dense: layout.is_none() };
        if is_written && let Some(other) = side.overlap(batch, within) {
            return refuse(format!(
                "has one place for elements of transforms 0 and {other}, but each is written; raise the distance of \
                 {distance}"
            ));
        }
        Ok(side)
    }

    /// Checks that an operand with this many elements has the elements of the plan.
    pub(crate) fn check(
        &self,
        call: &'static str,
        argument: &'static str,
        len: usize,
    ) -> Result<()> {
        let Self { span, is_dense, .. } = *self;
        if len == span || (len > span && !is_dense) {
            return Ok(());
        }
        let at_least = if is_dense { "" } else { " at least" };
        let problem = format!("has {len} elements, but the plan needs{at_least} {span}");
        Err(wrong_operand(call, argument, problem))
    }

    /// The index of the element at `[transform, x, y, z]`.
    pub(crate) fn at(&self, [b, x, y, z]: [usize; 4]) -> usize {
        b * self.distance + ((x * self.embed[1] + y) * self.embed[2] + z) * self.stride
    }

    /// The distance between neighbours in a dimension.
    pub(crate) fn step(&self, dimension: usize) -> usize {
        self.embed[dimension + 1..].iter().product::<usize>() * self.stride
    }

    /// Returns a transform that has an element in common with transform 0. `within` is the last index of a transform.
    ///
    /// An embedding array is not shorter than a transform, so the elements of one transform have different indices.
    fn overlap(&self, batch: usize, within: usize) -> Option<usize> {
        let (distance, stride) = (self.distance, self.stride);
        // Only each `every`-th transform is a whole number of strides away from transform 0.
        let divisor = greatest_common_divisor(distance, stride);
        let (every, strides) = (stride / divisor, distance / divisor);
        let most = ((batch.saturating_sub(1)) / every).min(within / stride / strides);
        (1..=most).find(|j| self.are_apart(j * strides)).map(|j| j * every)
    }

    /// Whether two elements of one transform are this number of strides apart.
    fn are_apart(&self, strides: usize) -> bool {
        let [n0, n1, n2] = self.lengths;
        let apart = |total: usize, embed: usize, length: usize| {
            let (more, rest) = (total / embed, total % embed);
            // Within a row, the two elements are `rest` strides apart forwards, or `embed - rest` strides backwards in
            // the next row.
            [(rest, more), (embed - rest, more + 1)].into_iter().filter(move |it| it.0 < length)
        };
        apart(strides, self.embed[2], n2)
            .flat_map(|(_, rows)| apart(rows, self.embed[1], n1))
            .any(|(_, planes)| planes < n0)
    }
}

/// Returns the number of elements of an array of these lengths; `None` if the number is too large.
pub(crate) fn product(lengths: [usize; MOST]) -> Option<usize> {
    lengths.into_iter().try_fold(1_usize, usize::checked_mul)
}

fn greatest_common_divisor(a: usize, b: usize) -> usize {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

#[cfg(all(test, not(loom)))]
#[path = "layout_tests.rs"]
mod tests;
