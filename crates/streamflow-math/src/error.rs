//! The errors that the calls of this crate itself find; the other errors are streamflow's.

/// The result of this crate's calls.
#[allow(dead_code, reason = "each feature uses it")]
pub(crate) type Result<T, E = streamflow::Error> = std::result::Result<T, E>;

/// The reason why the host body of a function failed.
#[allow(dead_code, reason = "each feature uses it")]
pub(crate) type BodyError = Box<dyn std::error::Error + Send + Sync>;

/// An error of this crate: in an [`Error::Other`](streamflow::Error::Other) of streamflow, and in the
/// [`Failure`](streamflow::Failure) of a hook that returns it.
///
/// ```
/// # use streamflow::prelude::*;
/// # fn judge(run: Result<(), Error>) {
/// if let Err(error) = run
///     && let Some(streamflow_math::Error::Unsolvable { row, .. }) = error.find_cause()
/// {
///     println!("the matrix of this run has a bad row: {row:?}");
/// }
/// # }
/// ```
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An operand of a call does not fit the plan, or the library can't take it. Nothing was queued.
    #[error("`{call}`: `{argument}` {problem}")]
    Operand {
        /// The name of the call.
        call: &'static str,
        /// The name of the operand.
        argument: &'static str,
        /// The argument that was passed, the requirement, and the remedy.
        problem: String,
    },

    /// A matrix has no such factorisation, or a result has a NaN. The device finds this out, so the host gets the error
    /// where it opens the `Checked` result of a solver.
    #[error("`{call}`{}: {problem}; {remedy}", of_batch(*.matrix))]
    Unsolvable {
        /// The solver.
        call: &'static str,
        /// The number of the matrix in its batch, from 0; `None` without a batch.
        matrix: Option<usize>,
        /// The row of the matrix, from 0, if the device has found one.
        row: Option<usize>,
        /// What the device has found wrong, in words.
        problem: String,
        /// The remedy.
        remedy: &'static str,
    },
}

/// The part of an error's text that names the matrix of a batch.
fn of_batch(matrix: Option<usize>) -> String {
    matrix.map(|matrix| format!(", matrix {matrix} of the batch")).unwrap_or_default()
}

/// The same text as [`Display`](std::fmt::Display): a `main` that returns an error prints this form.
impl std::fmt::Debug for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

impl From<Error> for streamflow::Error {
    #[cold]
    fn from(error: Error) -> Self {
        Self::Other(error.into())
    }
}

/// Returns the error of an operand that does not fit.
#[cfg(any(feature = "fft", feature = "matmul", feature = "solve", feature = "sparse"))]
#[cold]
pub(crate) fn wrong_operand(
    call: &'static str,
    argument: &'static str,
    problem: String,
) -> streamflow::Error {
    Error::Operand { call, argument, problem }.into()
}
