//! What a solver has found about its matrices on the device, and the errors for that.

use crate::error::Result;
use crate::ffi::cusolver::element::Factor;
use streamflow::Error;

/// The call that computed a result, and how the statuses of the result are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Origin {
    /// The solver, for errors.
    pub(super) call: &'static str,
    pub(super) finds: Finds,
    /// Whether the solver has also written the second half of the statuses, which tells of NaNs in the matrices.
    pub(super) marks: bool,
}

/// The meaning of a positive status of a solver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Finds {
    /// The status is the number of the row, from 1, that has no pivot.
    DependentRow,
    /// The status is the order, from 1, of a leading minor that is not positive.
    NotPositive,
    /// The status is the number of values that did not converge.
    NoConvergence,
}

/// Checks the statuses of a result that was opened. There is one for each matrix, and if `origin.marks` is set, also a
/// number for each matrix that is not 0 if the matrix has a NaN.
///
/// # Errors
/// [`Error::Unsolvable`](crate::Error::Unsolvable), for the first number that is not 0. If a matrix has a NaN, the NaN
/// is the cause of the solver's finding.
pub(super) fn check(origin: Origin, statuses: &[i32]) -> Result<()> {
    let matrices = if origin.marks { statuses.len() / 2 } else { statuses.len() };
    let (found, marks) = statuses.split_at(matrices);
    let number = |at: usize| (matrices > 1).then_some(at);
    if let Some(at) = marks.iter().position(|mark| *mark > 0) {
        return Err(origin.not_a_number(number(at), (i32::MAX - marks[at]) as usize));
    }
    let failed = found.iter().chain(marks).position(|status| *status != 0);
    failed.map_or(Ok(()), |at| Err(origin.unsolvable(number(at % matrices), statuses[at])))
}

/// Checks that the values of a result that was opened are numbers.
///
/// # Errors
/// [`Error::Unsolvable`](crate::Error::Unsolvable), with the index of the first value that is not a number.
pub(super) fn check_numbers<T: Factor>(origin: Origin, values: &[T]) -> Result<()> {
    let found = values.iter().position(|value| value.is_nan());
    found.map_or(Ok(()), |index| {
        Err(crate::Error::Unsolvable {
            call: origin.call,
            matrix: None,
            row: None,
            problem: format!("element {index} of the result is a NaN"),
            remedy: "the matrix or the right-hand side has one, or the computation overflowed: check what is passed in",
        }.into())
    })
}

/// Returns the error of opening a result that no solver has written.
#[cold]
pub(super) fn not_computed() -> Error {
    crate::Error::Unsolvable {
        call: "Checked",
        matrix: None,
        row: None,
        problem: "no solver has computed anything into this result".to_owned(),
        remedy: "pass it to a solver first, and open it after the call has returned `Ok`",
    }
    .into()
}

/// Returns the error of solving with a plan whose last `refactor` has failed.
#[cold]
pub(super) fn not_factored(call: &'static str) -> Error {
    crate::Error::Unsolvable {
        call,
        matrix: None,
        row: None,
        problem: "the plan has no factored matrix, since its last `refactor` has failed".to_owned(),
        remedy: "call `refactor` again, and solve after it has returned `Ok`",
    }
    .into()
}

/// Returns the error of a sparse matrix without factors, with the row if it is known.
#[cfg(feature = "sparse")]
#[cold]
pub(super) fn singular(call: &'static str, row: Option<usize>) -> Error {
    let at = row.map_or("a row".to_owned(), |row| format!("row {row}, counted from 0,"));
    crate::Error::Unsolvable {
        call,
        matrix: None,
        row,
        problem: format!("the matrix is singular: {at} is a combination of others"),
        remedy: "remove rows that depend on others",
    }
    .into()
}

impl Origin {
    #[cold]
    fn not_a_number(self, matrix: Option<usize>, row: usize) -> Error {
        crate::Error::Unsolvable {
            call: self.call,
            matrix,
            row: Some(row),
            problem: format!("the matrix has a NaN in row {row}, counted from 0"),
            remedy: "check what computes the matrix",
        }
        .into()
    }

    #[cold]
    fn unsolvable(self, matrix: Option<usize>, status: i32) -> Error {
        // A status counts rows from 1, and an error counts them from 0.
        let row = usize::try_from(status).ok().and_then(|number| number.checked_sub(1));
        let (row, problem, remedy) = match (self.finds, row) {
            (_, None) => (
                None,
                format!("cuSOLVER refused its argument {}", status.unsigned_abs()),
                "this is a mistake of streamflow: please report it",
            ),
            (Finds::DependentRow, Some(row)) => (
                Some(row),
                format!(
                    "the matrix is singular: row {row}, counted from 0, is a combination of the rows before it"
                ),
                "remove rows that depend on others, or use `Svd`, which has no such rows",
            ),
            (Finds::NotPositive, Some(row)) => (
                Some(row),
                format!(
                    "the matrix is not positive definite: with row {row}, counted from 0, its leading minor is not \
                     positive"
                ),
                "check that it is symmetric and has no NaN, add to its diagonal, or use `Lu`",
            ),
            (Finds::NoConvergence, Some(_)) => (
                None,
                "the iteration has not converged".to_owned(),
                "check that the matrix has no NaN and no infinity, or scale it",
            ),
        };
        crate::Error::Unsolvable { call: self.call, matrix, row, problem, remedy }.into()
    }
}
