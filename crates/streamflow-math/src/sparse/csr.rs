//! The type `Csr`: a sparse matrix in compressed rows.

use std::sync::atomic::{AtomicU64, Ordering};

use super::SparseElement;
use crate::error::{Result, wrong_operand};
use crate::ffi::cusparse::Matrix;
use streamflow::Error;
use streamflow::ExecutionContext;
use streamflow::Tensor;
use streamflow::memory::DeviceSlice;

/// A sparse matrix in device memory, in compressed sparse rows (CSR).
///
/// The values of row `i` are `values[offsets[i]..offsets[i + 1]]`, in the columns `columns[offsets[i]..offsets[i + 1]]`. All
/// indices count from 0. The host checks the offsets and columns when the matrix is made, and they never change. The values may
/// change: [`values_mut`](Self::values_mut).
#[derive(Debug)]
pub struct Csr<T: SparseElement> {
    shape: [usize; 2],
    offsets: Tensor<i32>,
    columns: Tensor<i32>,
    values: Tensor<T>,
    /// A number that is different for each matrix of the process.
    number: u64,
}

/// The number that the next matrix gets.
static NEXT: AtomicU64 = AtomicU64::new(0);

impl<T: SparseElement> Csr<T> {
    /// Copies a matrix of `rows` by `columns` to the operator's device. Any stream may use the matrix. Like
    /// [`ExecutionContext::upload`], this blocks until the host memory may be changed, so call it in `start`.
    ///
    /// `offsets` has one element more than the matrix has rows, and begins with 0. The columns of a row may be in any order.
    /// Values of a row with equal columns are added.
    ///
    /// # Errors
    /// [`Error::Operand`](crate::Error::Operand) for offsets that decrease or don't fit, for a column outside of the matrix,
    /// and for more than 2³¹ − 1 rows, columns or elements; the driver's error.
    pub fn upload(
        cx: &ExecutionContext,
        [rows, columns]: [usize; 2],
        offsets: &[i32],
        indices: &[i32],
        values: &[T],
    ) -> Result<Self> {
        check_sizes([rows, columns], values.len())?;
        check_lengths(rows, offsets, indices.len(), values.len())?;
        check_indices(columns, offsets, indices)?;
        Ok(Self {
            shape: [rows, columns],
            offsets: cx.upload(offsets)?,
            columns: cx.upload(indices)?,
            values: cx.upload(values)?,
            // `Relaxed` is enough, since the number orders nothing: matrices only have to have different numbers.
            number: NEXT.fetch_add(1, Ordering::Relaxed),
        })
    }

    /// Returns the numbers of rows and columns.
    pub fn shape(&self) -> [usize; 2] {
        self.shape
    }

    /// Returns the number of stored values.
    pub fn stored(&self) -> usize {
        self.values.len()
    }

    /// Returns the index of each row's first value. The last offset is the number of values.
    pub fn offsets(&self) -> &DeviceSlice<i32> {
        &self.offsets
    }

    /// Returns the column of each value.
    pub fn columns(&self) -> &DeviceSlice<i32> {
        &self.columns
    }

    /// Returns the values.
    pub fn values(&self) -> &DeviceSlice<T> {
        &self.values
    }

    /// Returns the values, to be written. A plan for the matrix stays valid.
    pub fn values_mut(&mut self) -> &mut DeviceSlice<T> {
        &mut self.values
    }

    /// Returns a number that is different for each matrix of the process. A plan needs it, since cuSPARSE prepares a plan for one
    /// matrix.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Returns the matrix in the form in which calls of libraries take it.
    #[inline]
    pub(crate) fn matrix(&self) -> Matrix<'_, T> {
        let Self { shape, number, .. } = *self;
        let (offsets, columns, values) = (&*self.offsets, &*self.columns, &*self.values);
        Matrix { shape, offsets, columns, values, number }
    }
}

/// The largest index of cuSPARSE that has 32 bits.
const LARGEST: usize = i32::MAX as usize;

fn check_sizes([rows, columns]: [usize; 2], stored: usize) -> Result<()> {
    if rows.max(columns).max(stored) <= LARGEST {
        return Ok(());
    }
    Err(invalid(
        "values",
        format!(
            "has {stored} elements in {rows} rows and {columns} columns, but indices have 32 bits: none of these may be \
             more than {LARGEST}; divide the matrix"
        ),
    ))
}

fn check_lengths(rows: usize, offsets: &[i32], indices: usize, values: usize) -> Result<()> {
    if offsets.len() != rows + 1 {
        let problem = format!(
            "has {} elements, but a matrix of {rows} rows needs {}: where each row begins, and the end of the last one",
            offsets.len(),
            rows + 1
        );
        return Err(invalid("offsets", problem));
    }
    if indices != values {
        let problem = format!(
            "has {indices} elements, but there are {values} values; give each value its column"
        );
        return Err(invalid("indices", problem));
    }
    let (first, last) = (offsets[0], offsets[rows]);
    if (first, i64::from(last)) != (0, values as i64) {
        let problem = format!(
            "begins with {first} and ends with {last}, but it must begin with 0 and end with {values}, the number of values"
        );
        return Err(invalid("offsets", problem));
    }
    Ok(())
}

fn check_indices(columns: usize, offsets: &[i32], indices: &[i32]) -> Result<()> {
    if let Some(row) = offsets.windows(2).position(|ends| ends[0] > ends[1]) {
        let problem = format!(
            "decreases from {} to {} at row {row}, counted from 0; sort the elements by rows",
            offsets[row],
            offsets[row + 1]
        );
        return Err(invalid("offsets", problem));
    }
    let outside = |&index: &i32| usize::try_from(index).map_or(true, |index| index >= columns);
    if let Some(at) = indices.iter().position(outside) {
        let problem = format!(
            "has the column {} at {at}, but the matrix has {columns} columns, counted from 0",
            indices[at]
        );
        return Err(invalid("indices", problem));
    }
    Ok(())
}

#[cold]
fn invalid(argument: &'static str, problem: String) -> Error {
    wrong_operand("sparse::Csr::upload", argument, problem)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::{check_indices, check_lengths, check_sizes};

    #[test]
    fn a_matrix_within_the_rules_is_accepted() {
        check_sizes([2, 3], 3).unwrap();
        check_lengths(2, &[0, 1, 3], 3, 3).unwrap();
        check_indices(3, &[0, 1, 3], &[2, 1, 0]).unwrap();
        check_lengths(0, &[0], 0, 0).unwrap();
        check_indices(0, &[0, 0], &[]).unwrap();
    }

    #[test]
    fn each_broken_rule_is_named() {
        let text = |result: crate::error::Result<()>| result.unwrap_err().to_string();
        let many = text(check_sizes([1 << 31, 1], 5));
        assert!(many.contains("none of these may be more than 2147483647"), "{many}");
        let short = text(check_lengths(3, &[0, 1], 1, 1));
        assert!(short.contains("a matrix of 3 rows needs 4"), "{short}");
        let odd = text(check_lengths(1, &[0, 2], 1, 2));
        assert!(odd.contains("`indices` has 1 elements, but there are 2 values"), "{odd}");
        let begin = text(check_lengths(1, &[1, 2], 2, 2));
        assert!(begin.contains("begins with 1 and ends with 2"), "{begin}");
        let end = text(check_lengths(1, &[0, 3], 2, 2));
        assert!(end.contains("end with 2, the number of values"), "{end}");
        assert!(text(check_lengths(0, &[1], 0, 0)).contains("begins with 1"));
        assert!(text(check_lengths(1, &[0, -1], 0, 0)).contains("ends with -1"));
        let down = text(check_indices(3, &[0, 2, 1, 2], &[0, 1]));
        assert!(down.contains("decreases from 2 to 1 at row 1, counted from 0"), "{down}");
        let outside = text(check_indices(3, &[0, 2], &[0, 3]));
        assert!(
            outside.contains("has the column 3 at 1, but the matrix has 3 columns"),
            "{outside}"
        );
        assert!(text(check_indices(3, &[0, 1], &[-1])).contains("the column -1 at 0"));
    }
}
