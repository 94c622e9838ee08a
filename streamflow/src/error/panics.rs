//! Panics of the user's code as errors.

use std::fmt;

use super::Error;
use crate::caught::caught;
use crate::driver::report_in_drop;

/// The same as [`caught`], with the panic as an error.
///
/// # Errors
/// [`Error::Panicked`].
#[inline(always)]
pub(crate) fn caught_as_error<R>(call: impl FnOnce() -> R) -> Result<R, Box<Error>> {
    caught(call).map_err(panicked)
}

/// Drops an error that may be the user's. A panic of its `Drop` is ignored: the panic hook has printed it.
pub(crate) fn forget(error: Error) {
    let _panicked = caught(|| drop(error));
}

/// Calls a function that drops messages, and calls it again after each panic until it returns: a panic ends the call
/// after one message, and the others must be dropped as well.
///
/// # Errors
/// The first panic.
pub(crate) fn drop_all(mut drop: impl FnMut()) -> Result<(), Box<Error>> {
    let mut done = Ok(());
    while let Err(error) = caught_as_error(&mut drop) {
        done = done.and(Err(error));
    }
    done
}

/// Returns the first of two errors, and logs the second.
///
/// # Errors
/// The first error.
pub(crate) fn first_of<E: fmt::Display + 'static>(
    first: Result<(), E>,
    second: Result<(), E>,
    what: &'static str,
) -> Result<(), E> {
    if first.is_ok() {
        return second;
    }
    report_in_drop(what, second);
    first
}

#[cold]
#[inline(never)]
fn panicked(message: String) -> Box<Error> {
    Box::new(Error::Panicked { message })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drop_all_continues_after_each_panic() {
        let mut left = vec![1, 2, 3, 4, 5];
        let done = drop_all(|| {
            while let Some(number) = left.pop() {
                assert!(number % 2 == 0, "{number} is odd");
            }
        });
        assert!(done.is_err_and(|error| error.to_string().contains("5 is odd")));
        assert!(left.is_empty());
    }
}
