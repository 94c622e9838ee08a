//! Panics of the user's code, converted to errors.

use std::fmt;

use super::Error;
use crate::caught::caught;
use crate::driver::report_in_drop;

/// Does the same as [`caught`], and returns a panic as an error.
///
/// # Errors
/// [`Error::Panicked`] if `call` panics.
#[inline(always)]
pub(crate) fn caught_as_error<R>(call: impl FnOnce() -> R) -> Result<R, Box<Error>> {
    caught(call).map_err(panicked)
}

/// Drops an error that may be of a user's type. If its `Drop` panics, the panic is ignored, since the panic hook has printed it.
pub(crate) fn forget(error: Error) {
    let _panicked = caught(|| drop(error));
}

/// Calls a function that drops messages, again and again until it returns without a panic. A panic of a message's `Drop` ends the
/// call after that message, and the other messages must be dropped, too.
///
/// # Errors
/// The first panic, as an [`Error::Panicked`].
pub(crate) fn drop_all(mut drop: impl FnMut()) -> Result<(), Box<Error>> {
    let mut done = Ok(());
    while let Err(error) = caught_as_error(&mut drop) {
        done = done.and(Err(error));
    }
    done
}

/// Returns the first of two errors, and logs the second one. If only one of the results is an error, returns that.
///
/// # Errors
/// The first error, or else the second.
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
