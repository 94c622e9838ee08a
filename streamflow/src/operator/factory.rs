//! The expression from which a node with `#[on_failure(restart(…))]` makes fresh operators.

use crate::error::Failure;

/// A closure that makes a fresh operator from its expression in `graph!`.
pub type OperatorFactory<O> = Box<dyn FnMut() -> Result<O, Failure> + Send>;

/// A parameter of a graph that a restart needs once more.
#[diagnostic::on_unimplemented(
    message = "a restart makes the operator again, and needs this parameter for it, but `{Self}` can't be kept",
    label = "`#[on_failure(restart(…))]` needs a type that is `Clone`, `Send` and `'static`",
    note = "take an `Arc<…>`, or make this value within the operator's expression"
)]
pub trait KeptForRestart: Clone + Send + 'static {}

#[diagnostic::do_not_recommend]
impl<T: Clone + Send + 'static> KeptForRestart for T {}

/// Returns a clone of a parameter, to be kept for restarts.
pub fn clone_for_restart<T: KeptForRestart>(param: &T) -> T {
    param.clone()
}
