//! Compile-time errors for a context on another thread: the context of a hook stays on the hook's thread, and so do the inputs
//! and outputs, which refer to it.
//!
//! The context is not `Sync`, because it has cells. Without the impl in this file, rustc would report each cell. The bound of the
//! impl never holds, so the impl makes no context `Sync`, but rustc reports the bound with the text in this file.

use super::ExecutionContext;

/// Stands for a value that several threads may use at once. No context implements this trait.
#[diagnostic::on_unimplemented(
    message = "the context, the inputs and the outputs of a hook stay on the thread that calls the hook",
    label = "this would use them on another thread",
    note = "receive the messages and ask the context in the hook, and move what they return, as `let tick = cx.tick();`"
)]
pub trait OfSeveralThreads {}

/// The trait has one implementation, for a type without values, so that rustc does not propose to implement it.
#[diagnostic::do_not_recommend]
impl OfSeveralThreads for std::convert::Infallible {}

// SAFETY: the bound holds for no context, so this impl makes no context `Sync`. `for<'a>` permits a bound that never holds.
unsafe impl Sync for ExecutionContext where for<'a> ExecutionContext: OfSeveralThreads {}
