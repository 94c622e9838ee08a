//! The only code that catches panics of the user's code.
//!
//! A panic's payload is a value of the user's, too, and may panic when it is dropped.

use std::any::Any;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Calls a function that runs the user's code: a hook, a kernel's body, or code that drops messages.
///
/// # Errors
/// The text of the panic, if the function panics.
#[inline(always)]
pub fn caught<R>(call: impl FnOnce() -> R) -> Result<R, String> {
    catch_unwind(AssertUnwindSafe(call)).map_err(text_of)
}

#[cold]
#[inline(never)]
fn text_of(panic: Box<dyn Any + Send>) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    let text = text.unwrap_or("(no text)").to_owned();
    if let Err(another) = catch_unwind(AssertUnwindSafe(|| drop(panic))) {
        // Dropping `another`, the payload of the second panic, could panic again.
        mem::forget(another);
    }
    text
}

#[cfg(all(test, not(loom)))]
mod tests {
    #![allow(clippy::panic, reason = "the tests catch panics")]
    use std::panic::panic_any;

    use super::*;

    /// A payload that panics when it is dropped, with another payload of this type.
    struct PanicsInDrop(u32);

    impl Drop for PanicsInDrop {
        fn drop(&mut self) {
            panic_any(PanicsInDrop(self.0 + 1));
        }
    }

    #[test]
    fn a_payload_that_panics_is_dropped_without_a_panic() {
        assert_eq!(caught(|| 7), Ok(7));
        assert_eq!(caught(|| panic!("out of ink")), Err::<(), _>("out of ink".into()));
        assert_eq!(caught(|| panic!("out of {}", "ink")), Err::<(), _>("out of ink".into()));
        assert_eq!(caught(|| panic_any(PanicsInDrop(0))), Err::<(), _>("(no text)".into()));
    }
}
