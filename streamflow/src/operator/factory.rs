//! The closure with which a node with `#[on_failure(restart(…))]` makes fresh operators.

use crate::error::Failure;

/// A closure that makes a fresh operator, by the operator's expression in `graph!`.
pub type OperatorFactory<O> = Box<dyn FnMut() -> Result<O, Failure> + Send>;

/// A parameter of a graph of which the node stores a clone, since a restart evaluates the operator's expression again.
#[diagnostic::on_unimplemented(
    message = "a restart makes the operator again, and needs this parameter for it, but `{Self}` can't be kept",
    label = "`#[on_failure(restart(…))]` needs a type that is `Clone`, `Send` and `'static`",
    note = "take an `Arc<…>`, or make this value within the operator's expression"
)]
pub trait KeptForRestart: Clone + Send + 'static {}

#[diagnostic::do_not_recommend]
impl<T: Clone + Send + 'static> KeptForRestart for T {}

/// Returns a clone of a parameter, which the node stores for restarts.
pub fn clone_for_restart<T: KeptForRestart>(param: &T) -> T {
    param.clone()
}
