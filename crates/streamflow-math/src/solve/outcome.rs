//! Reads the statuses that a solver has written for its matrices on the device, and makes the errors for them.

use crate::error::Result;
use crate::ffi::cusolver::element::Factor;
use streamflow::Error;

/// The call that computed a result, and what its statuses mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Origin {
    /// The name of the solver, for errors.
    pub(super) call: &'static str,
    pub(super) finds: Finds,
    /// Whether the solver has also written marks, the second half of the statuses.
    pub(super) marks: bool,
}

/// What a positive status of a solver means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Finds {
    /// The status is the number, from 1, of the row that has no pivot.
    DependentRow,
    /// The status is the order, from 1, of a leading minor that is not positive.
    NotPositive,
    /// The status is the number of values that did not converge.
    NoConvergence,
}

/// Checks the statuses of a result that the host opens: a status for each matrix, and then a mark for each if the solver makes
/// marks.
///
/// # Errors
/// [`Error::Unsolvable`](crate::Error::Unsolvable) for the first mark, and if there is none, for the first status that is not 0.
/// A mark counts first, since the NaN that it reports is the cause of the solver's status.
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

/// Checks that none of the values of a result that the host opens is a NaN.
///
/// # Errors
/// [`Error::Unsolvable`](crate::Error::Unsolvable), with the index of the first NaN.
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

/// Returns the error of a plan that can't solve, since its last `refactor` has failed.
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

/// Returns the error for a singular sparse matrix, with the row if the library reports it.
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
        // Statuses count rows from 1, and the error counts them from 0.
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
