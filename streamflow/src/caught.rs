//! Panics of the user's code, caught: the one place for it.
//!
//! What a panic carries is the user's, too, and may panic when it is dropped.

use std::any::Any;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::error::Error;

/// Calls what runs the user's code: a hook, a kernel's body, or what drops messages.
///
/// # Errors
/// What a panic said.
#[inline]
pub(crate) fn caught<R>(call: impl FnOnce() -> R) -> Result<R, String> {
    catch_unwind(AssertUnwindSafe(call)).map_err(text_of)
}

/// As [`caught`].
///
/// # Errors
/// [`Error::Panicked`].
#[inline]
pub(crate) fn caught_as_error<R>(call: impl FnOnce() -> R) -> Result<R, Box<Error>> {
    caught(call).map_err(panicked)
}

/// Calls what drops messages until nothing is left that panics: each panic costs it one message, and nobody would
/// come back for the others.
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

#[cold]
#[inline(never)]
fn panicked(message: String) -> Box<Error> {
    Box::new(Error::Panicked { message })
}

#[cold]
#[inline(never)]
fn text_of(panic: Box<dyn Any + Send>) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    let text = text.unwrap_or("(no text)").to_owned();
    if let Err(another) = catch_unwind(AssertUnwindSafe(|| drop(panic))) {
        // It would go on like this.
        mem::forget(another);
    }
    text
}

#[cfg(test)]
mod tests {
    #![allow(clippy::panic, reason = "that is what is tested")]
    use std::panic::panic_any;

    use super::*;

    /// Panics when it is dropped, with another of its kind.
    struct Again(u32);

    impl Drop for Again {
        fn drop(&mut self) {
            panic_any(Again(self.0 + 1));
        }
    }

    #[test]
    fn what_a_panic_carries_is_dropped_without_a_panic() {
        assert_eq!(caught(|| 7), Ok(7));
        assert_eq!(caught(|| panic!("out of ink")), Err::<(), _>("out of ink".into()));
        assert_eq!(caught(|| panic!("out of {}", "ink")), Err::<(), _>("out of ink".into()));
        assert_eq!(caught(|| panic_any(Again(0))), Err::<(), _>("(no text)".into()));
    }

    #[test]
    fn all_is_dropped_whatever_panics() {
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
