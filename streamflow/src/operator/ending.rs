//! The end of a run: all nodes are stopped, also after an error, and no error is lost.

use super::any_node::AnyNode;
use crate::driver::DriverError;
use crate::error::{Error, Result, forget};
use crate::platform::Platform;

/// Stops nodes in the reverse of their static order, and waits for the work on their streams. Adds their errors to `followed`.
/// `has_failed` says whether the run has ended with an error.
pub(crate) fn stop_all(
    nodes: &mut [&mut dyn AnyNode],
    platform: &Platform,
    has_failed: bool,
    followed: &mut Vec<Error>,
) {
    for node in nodes.iter_mut().rev() {
        let Err(error) = node.stop() else { continue };
        // A sticky error is reported once, since it makes each hook fail that calls the device.
        if (has_failed || !followed.is_empty()) && error.is_refusal() {
            forget(error);
        } else {
            followed.push(error);
        }
    }
    // The wait is needed after an error, too: the device must not go on with queued work while the caller drops the operators.
    // After a sticky error the device executes no work, so there is nothing to wait for.
    for node in nodes.iter_mut() {
        if platform.driver().sticky_error().is_none() {
            followed.extend(node.synchronize_blocking().err());
        }
    }
}

/// Returns the error of a run, together with the errors that followed while the nodes were being stopped.
pub(crate) fn ended(done: Result<()>, mut followed: Vec<Error>, platform: &Platform) -> Result<()> {
    let has_failed = done.is_err() || !followed.is_empty();
    if has_failed && let Some(cause) = platform.driver().sticky_error() {
        // Adds the sticky error if no error so far names it. Without it, the caller might see only an operator's own failure, and
        // not know why the next run fails.
        let is_named = done.as_ref().err().is_some_and(|error| error.names(&cause))
            || followed.iter().any(|error| error.names(&cause));
        if !is_named {
            let call = "the wait for the device";
            followed.push(DriverError::Sticky { call, cause }.into());
        }
    }
    let cause = match done {
        Err(cause) => cause,
        Ok(()) if followed.is_empty() => return Ok(()),
        Ok(()) => followed.remove(0),
    };
    if followed.is_empty() {
        return Err(cause);
    }
    Err(Error::Run { cause: Box::new(cause), followed })
}
