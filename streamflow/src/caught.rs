//! Panics of the user's code, caught: the one place for it.
//!
//! What a panic carries is the user's, too, and may panic when it is dropped.

use std::any::Any;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Calls what runs the user's code: a hook, a kernel's body, or what drops messages.
///
/// # Errors
/// What a panic said.
#[inline]
pub(crate) fn caught<R>(call: impl FnOnce() -> R) -> Result<R, String> {
    catch_unwind(AssertUnwindSafe(call)).map_err(text_of)
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
}
