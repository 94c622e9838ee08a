//! The context of a hook, and its inputs and outputs, which refer to the context, stay on the thread of the hook.
//!
//! The context is not `Sync` because of its cells. Without the impl here, rustc reports each of them. This impl of `Sync`
//! never holds, so the context is no more `Sync` than without it. rustc reports its bound, which has a text of its own.

use super::ExecutionContext;

/// A value that several threads may use. No context is one.
#[diagnostic::on_unimplemented(
    message = "the context, the inputs and the outputs of a hook stay on the thread that calls the hook",
    label = "this would use them on another thread",
    note = "receive the messages and ask the context in the hook, and move what they return, as `let tick = cx.tick();`"
)]
pub trait OfSeveralThreads {}

/// So that rustc does not propose to implement the trait.
#[diagnostic::do_not_recommend]
impl OfSeveralThreads for std::convert::Infallible {}

// SAFETY: the bound holds for no context, so no context is `Sync` by this impl. `for<'a>` permits such a bound.
unsafe impl Sync for ExecutionContext where for<'a> ExecutionContext: OfSeveralThreads {}
