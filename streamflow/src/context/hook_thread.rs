//! The context of a hook stays on the thread of the hook, and so do the inputs and outputs, since they refer to the context.
//!
//! The context is not `Sync` because of its cells. Without the impl here, rustc would report each cell. The bound of this impl
//! of `Sync` never holds, so the context is not `Sync` with it either, and rustc reports that bound with a text of its own.

use super::ExecutionContext;

/// A value that several threads may use. No context has this trait.
#[diagnostic::on_unimplemented(
    message = "the context, the inputs and the outputs of a hook stay on the thread that calls the hook",
    label = "this would use them on another thread",
    note = "receive the messages and ask the context in the hook, and move what they return, as `let tick = cx.tick();`"
)]
pub trait OfSeveralThreads {}

/// An implementation that keeps rustc from proposing to implement the trait.
#[diagnostic::do_not_recommend]
impl OfSeveralThreads for std::convert::Infallible {}

// SAFETY: the bound holds for no context, so no context is `Sync` by this impl. `for<'a>` permits such a bound.
unsafe impl Sync for ExecutionContext where for<'a> ExecutionContext: OfSeveralThreads {}
