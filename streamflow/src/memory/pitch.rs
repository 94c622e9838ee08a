//! The layout of an array with padded rows: dense rows at one distance.

use super::{Element, Shape, Strides};
use crate::driver::{MemoryRange, RowLevel, Rows};
use crate::error::{Error, Result as Done};

/// Dense rows that begin at one distance from each other: the layout of an array of a known shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pitch {
    /// How many dimensions repeat the rows. The other dimensions, the last ones, are within a row.
    outer: usize,
    /// The distance between the starts of two rows, in elements: at least the elements of a row.
    elements: usize,
}

impl Pitch {
    /// The layout without padding. A row is the elements along the last dimension.
    pub(super) fn dense(shape: &Shape) -> Self {
        let outer = shape.dims().len().saturating_sub(1);
        Self { outer, elements: shape.dims()[outer..].iter().product() }
    }

    /// The layout of rows along the last dimension, each of which begins at a multiple of `step` elements. `None` if the
    /// number of elements overflows.
    pub(super) fn aligned(shape: &Shape, step: usize) -> Option<Self> {
        let Self { outer, elements } = Self::dense(shape);
        Some(Self { outer, elements: elements.checked_next_multiple_of(step)? })
    }

    /// The layout that has these strides, in elements. A dimension of length 1 and an empty array may have any strides.
    ///
    /// # Errors
    /// The reason in words, if the strides are not those of dense rows at one distance that neither overlap nor have another
    /// order, or if the number of bytes overflows with the padding.
    pub(super) fn of_strides(shape: &Shape, strides: &[i64]) -> Result<Self, String> {
        let rank = shape.dims().len();
        if strides.len() != rank {
            return Err(format!("it has {rank} dimensions, and strides for {}", strides.len()));
        }
        if shape.count() == 0 {
            return Ok(Self::dense(shape));
        }
        let mut found = None;
        // A stride is below 2^63 and the product of the dimensions below 2^60, so their product fits.
        let mut next = 1_i128;
        for (index, (&len, &stride)) in shape.dims().iter().zip(strides).enumerate().rev() {
            if len == 1 {
                continue;
            }
            let stride = i128::from(stride);
            if stride != next {
                if found.is_some() || index + 1 == rank || stride < next {
                    return Err(refusal(shape, strides, index, next));
                }
                found = Some(Self { outer: index + 1, elements: stride as usize });
                next = stride;
            }
            next *= len as i128;
        }
        let found = found.unwrap_or_else(|| Self::dense(shape));
        match found.padded(shape) {
            Ok(_) => Ok(found),
            Err(_) => Err(format!(
                "its strides, in elements, are {strides:?} for the shape {:?}: its number of bytes overflows",
                shape.dims()
            )),
        }
    }

    /// The layout that has these strides, in bytes.
    ///
    /// # Errors
    /// As for [`of_strides`](Self::of_strides); also for a stride that is no multiple of the size of an element.
    pub(super) fn of_bytes<T: Element>(shape: &Shape, strides: &[i64]) -> Result<Self, String> {
        let size = size_of::<T>() as i64;
        let has_meaning = |index: usize| {
            shape.count() > 0 && shape.dims().get(index).is_some_and(|&len| len != 1)
        };
        let mut pairs = strides.iter().enumerate();
        if let Some((_, odd)) = pairs.find(|&(index, it)| has_meaning(index) && it % size != 0) {
            return Err(format!(
                "its strides are {strides:?} bytes, and {odd} is no multiple of the {size} bytes of a {}",
                T::DTYPE
            ));
        }
        let elements: Vec<i64> = strides.iter().map(|stride| stride / size).collect();
        Self::of_strides(shape, &elements)
    }

    /// The shape of the array with its padding: the dimensions that repeat the rows, and the distance of the rows.
    ///
    /// # Errors
    /// [`Error::Shape`] if the number of bytes overflows.
    pub(super) fn padded(self, shape: &Shape) -> Done<Shape> {
        shape.with_row(self.outer, self.elements).map_err(|_| Error::Shape {
            shape: shape.dims().to_vec(),
            reason: "its number of bytes overflows, with the padding of its rows",
        })
    }

    /// The distances, in elements, between neighbours in each dimension.
    pub(super) fn strides(self, shape: &Shape) -> Strides {
        shape.pitched_strides(self.outer, self.elements)
    }

    /// The distance between the starts of two rows, in elements.
    pub(super) fn elements(self) -> usize {
        self.elements
    }

    /// The number of elements of a row.
    fn row(self, shape: &Shape) -> usize {
        shape.dims()[self.outer..].iter().product()
    }

    /// The number of rows.
    fn count(self, shape: &Shape) -> usize {
        shape.dims()[..self.outer].iter().product()
    }

    /// The number of elements from the first element to the last, with the padding between them. After the last row there is
    /// none.
    pub(super) fn span(self, shape: &Shape) -> usize {
        let row = self.row(shape);
        match self.count(shape).checked_sub(1) {
            Some(before) if row > 0 => before * self.elements + row,
            _ => 0,
        }
    }

    /// The position of the first of the elements along the last dimension with this index, counted over all other
    /// dimensions. The array has such elements.
    pub(super) fn start(self, shape: &Shape, index: usize) -> usize {
        let len = shape.dims().last().copied().unwrap_or(1);
        let in_row = (self.row(shape) / len.max(1)).max(1);
        index / in_row * self.elements + index % in_row * len
    }

    /// The bytes of the elements of an array at this address, and their rows; `None` without padding.
    pub(super) fn bytes<T: Element>(
        self,
        shape: &Shape,
        address: u64,
    ) -> (MemoryRange, Option<Rows>) {
        let bytes = Shape::bytes_of::<T>;
        let range = MemoryRange { address, bytes: bytes(self.span(shape)) };
        if range.bytes == 0 {
            return (range, None);
        }
        let level = RowLevel { count: self.count(shape) as u64, pitch: bytes(self.elements) };
        (range, Rows::new(bytes(self.row(shape)), [level]))
    }
}

/// Says why the stride of a dimension is refused, where the dimensions inside of it continue after `next` elements.
#[cold]
fn refusal(shape: &Shape, strides: &[i64], index: usize, next: i128) -> String {
    let (stride, dims) = (strides[index], shape.dims());
    let problem = match stride {
        ..0 => format!("the stride {stride} of dimension {index} is negative"),
        _ if i128::from(stride) < next => format!(
            "dimension {index} continues after {stride} elements, and {next} are in the dimensions inside of it: rows overlap \
             or are transposed"
        ),
        _ if index + 1 == dims.len() => {
            format!("the elements of a row are {stride} apart, and must follow each other, 1 apart")
        }
        _ => format!(
            "dimension {index} continues after {stride} elements and not after {next}, and only one dimension may have gaps"
        ),
    };
    format!("its strides, in elements, are {strides:?} for the shape {dims:?}: {problem}")
}

impl Shape {
    /// Reads the strides of an array of elements `T` of this shape in memory of other code: `bytes` are the distances, in bytes,
    /// between neighbours in each dimension, as in NumPy's `strides`. The rows may be padded: a row is dense, along one dimension
    /// or more, as the columns and channels of a picture, and the rows begin at one distance, which may be any. Returns the
    /// strides in elements.
    ///
    /// # Errors
    /// [`Error::Exchange`] for other strides: negative ones, those of overlapping rows or of a transposed array, gaps within a
    /// row or in two dimensions, and a distance that is no multiple of the size of an element. The text has the strides
    /// and what they should be.
    pub fn padded_strides<T: Element>(&self, bytes: &[i64]) -> Done<Strides> {
        match Pitch::of_bytes::<T>(self, bytes) {
            Ok(pitch) => Ok(pitch.strides(self)),
            Err(reason) => Err(refused("the array can't be taken", reason)),
        }
    }
}

/// What makes an array dense.
pub(super) const REMEDY: &str =
    "make it contiguous before, as by `numpy.ascontiguousarray` or `.contiguous()`";

/// The error for an array whose strides are refused.
#[cold]
pub(super) fn refused(what: &str, reason: String) -> Error {
    Error::Exchange { what: what.to_owned(), reason, remedy: REMEDY.to_owned() }
}

#[cfg(all(test, not(loom)))]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    fn shape(dims: &[usize]) -> Shape {
        Shape::new(dims).unwrap()
    }

    /// For each layout, its strides lead to the same strides, and its last element is the last of its span.
    #[test]
    fn strides_lead_back_to_the_layout() {
        for (dims, strides, outer, elements) in [
            (&[4, 6][..], &[8, 1][..], 1, 8),
            (&[4, 6], &[7, 1], 1, 7),
            (&[4, 6], &[6, 1], 1, 6),
            (&[4, 6, 3], &[24, 3, 1], 1, 24),
            (&[2, 4, 6], &[32, 8, 1], 2, 8),
            (&[2, 4, 6, 3], &[80, 20, 3, 1], 2, 20),
            (&[4, 1], &[5, 1], 1, 5),
            (&[2, 1, 6], &[9, 6, 1], 1, 9),
            (&[2, 4, 6], &[100, 6, 1], 1, 100),
            (&[5], &[1], 0, 5),
            (&[], &[], 0, 1),
        ] {
            let shape = shape(dims);
            let found = Pitch::of_strides(&shape, strides).unwrap();
            assert_eq!(found, Pitch { outer, elements }, "{dims:?} {strides:?}");
            let own = found.strides(&shape);
            let same = dims.iter().zip(own.iter().zip(strides));
            assert!(same.into_iter().all(|(&len, (&own, &it))| len == 1 || own as i64 == it));
            let last: usize = dims.iter().zip(own.iter()).map(|(len, step)| (len - 1) * step).sum();
            assert_eq!(found.span(&shape), last + 1, "{dims:?} {strides:?}");
            let padded = found.padded(&shape).unwrap();
            assert!(padded.count() > last);
        }
    }

    #[test]
    fn a_dimension_of_one_and_an_empty_array_have_any_strides() {
        let one = shape(&[3, 1, 4]);
        assert_eq!(Pitch::of_strides(&one, &[8, -5, 1]), Ok(Pitch { outer: 1, elements: 8 }));
        let empty = shape(&[0, 4]);
        let found = Pitch::of_strides(&empty, &[i64::MIN, 77]).unwrap();
        assert_eq!((found, found.span(&empty)), (Pitch::dense(&empty), 0));
        assert_eq!(one.padded_strides::<f32>(&[32, 7, 4]).unwrap()[..], [8, 4, 1]);
        assert!(empty.padded_strides::<f32>(&[1, 3]).is_ok());
    }

    #[test]
    fn other_strides_are_refused_with_both_sides() {
        let cases: [(&[usize], &[i64], &str); 12] = [
            (&[3, 4], &[3, 1], "continues after 3 elements, and 4 are in"),
            (&[3, 4], &[0, 1], "continues after 0 elements, and 4 are in"),
            (&[3, 4], &[-7, 1], "the stride -7 of dimension 0 is negative"),
            (&[2, 3, 4], &[i64::MIN, 8, 1], "of dimension 0 is negative"),
            (&[4], &[-1], "the stride -1 of dimension 0 is negative"),
            (&[3, 4], &[1, 3], "the elements of a row are 3 apart"),
            (&[3, 4], &[8, 2], "the elements of a row are 2 apart"),
            (&[4], &[2], "the elements of a row are 2 apart"),
            (&[2, 3, 4], &[4, 8, 1], "continues after 4 elements, and 24 are in"),
            (&[2, 3, 4], &[30, 8, 1], "continues after 30 elements and not after 24"),
            (&[3, 4], &[1], "2 dimensions, and strides for 1"),
            (&[3, 4], &[i64::MAX, 1], "its number of bytes overflows"),
        ];
        for (dims, strides, text) in cases {
            let error = Pitch::of_strides(&shape(dims), strides).unwrap_err();
            assert!(error.contains(text), "{error}");
        }
        let error = shape(&[3, 4]).padded_strides::<f32>(&[18, 4]).unwrap_err().to_string();
        assert!(error.contains("[18, 4] bytes, and 18 is no multiple of the 4 bytes of a float32"));
        assert!(error.contains("numpy.ascontiguousarray"), "{error}");
    }

    #[test]
    fn a_row_of_the_last_dimension_begins_where_its_strides_say() {
        for strides in [[24, 3, 1], [18, 3, 1]] {
            let shape = shape(&[4, 6, 3]);
            let pitch = Pitch::of_strides(&shape, &strides).unwrap();
            for index in 0..24 {
                let expected = index / 6 * strides[0] as usize + index % 6 * 3;
                assert_eq!(pitch.start(&shape, index), expected);
            }
        }
    }

    #[test]
    fn the_bytes_are_those_of_the_rows() {
        let shape = shape(&[4, 2, 3]);
        let pitch = Pitch::of_strides(&shape, &[10, 3, 1]).unwrap();
        let (range, rows) = pitch.bytes::<u16>(&shape, 64);
        assert_eq!(range, MemoryRange { address: 64, bytes: 2 * (3 * 10 + 6) });
        let rows = rows.unwrap();
        assert_eq!((rows.bytes(), rows.levels()), (12, &[RowLevel { count: 4, pitch: 20 }][..]));
        assert_eq!(Pitch::dense(&shape).bytes::<u16>(&shape, 64).1, None);
    }
}
