//! `#[when(condition(value))]`: conditions of a user's own types.

use std::fmt;

use super::answers::Verdict;
use super::term::{Ends, Lack, NodePorts, Situation, Term};
use crate::caught::caught;
use crate::context::Waker;
use crate::error::{Result, caught_as_error};
use crate::time::Timestamp;

/// What [`Condition::check`] returns: whether the node may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Answer {
    /// The node may run now, as far as this condition is concerned.
    Ready,
    /// The scheduler shall check the condition again at this moment. A moment that has passed means the same as `Ready`.
    Until(Timestamp),
    /// The scheduler shall check the condition again after a call of [`Waker::wake`].
    Waiting,
    /// The condition will not hold again, so the node is done for this run.
    Never,
}

/// A condition of your own type: `#[when(condition(value))]` adds it to a node.
///
/// The scheduler checks the condition only while all required messages wait at the node's inputs and its outputs have room. With
/// such a condition, an operator that has only optional inputs also runs without a message.
///
/// A panic in one of these functions is an error of the node. After a panic in `reason`, the text of the panic is the reason.
///
/// ```
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicBool, Ordering};
///
/// use streamflow::operator::{Answer, Condition};
/// use streamflow::prelude::*;
/// use streamflow::time::Timestamp;
///
/// /// Holds while the shutter is open. Another thread opens it.
/// struct Open(Arc<AtomicBool>);
///
/// impl Condition for Open {
///     fn check(&mut self, _: Timestamp) -> Answer {
///         // The thread that opens it calls `Waker::wake` afterwards.
///         if self.0.load(Ordering::Acquire) { Answer::Ready } else { Answer::Waiting }
///     }
///
///     fn reason(&self) -> String {
///         "the shutter is closed".into()
///     }
/// }
///
/// #[operator]
/// struct Camera {
///     #[output] frame: u64,
/// }
///
/// impl Compute for Camera {
///     fn compute(&mut self, io: CameraIo<'_>, cx: &ExecutionContext) -> Result<()> {
///         io.frame.emit(cx.tick())
///     }
/// }
///
/// graph! {
///     struct Recording(shutter: Arc<AtomicBool>) {
///         #[when(count(3), condition(Open(shutter)))]
///         let camera: Camera = Camera::new();
///         camera.frame >> _;
///     }
/// }
///
/// # fn main() -> Result<()> {
/// let shutter = Arc::new(AtomicBool::new(true));
/// let report = Recording::new(&Platform::host().build()?, shutter)?.run()?;
/// assert_eq!(report.ticks("camera"), Some(3));
/// # Ok(())
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no condition",
    label = "this value can't decide whether a node runs",
    note = "write `impl Condition for {Self}`"
)]
pub trait Condition: Send + 'static {
    /// Returns whether the node may run. The scheduler calls this each time it visits the node, so it must not block.
    fn check(&mut self, now: Timestamp) -> Answer;

    /// Called on the thread that asked for a run, when the run was made. The thread of the run calls `start` later.
    #[doc(hidden)]
    fn announced(&mut self) {}

    /// Called at the beginning of a run. Code that changes the condition must keep a clone of `waker`, and call it *after* each
    /// change: without that call, a sleeping scheduler does not see the change.
    fn start(&mut self, waker: &Waker) {
        let _ = waker;
    }

    /// Called after a tick of the node. `now` is the time of the last check, at which this condition returned `Ready`.
    fn ticked(&mut self, now: Timestamp) {
        let _ = now;
    }

    /// Called once at the end of each run, before the `stop` hook of the node's operator. It is also called if a `start` hook
    /// failed before this condition's `start` was called.
    fn stop(&mut self) {}

    /// Returns the reason why the condition does not hold. Called only when a report is made.
    fn reason(&self) -> String {
        String::new()
    }
}

/// A user's condition, as an element of its node's list.
pub(super) struct Own<C>(pub(super) C);

impl<C: Condition> Term for Own<C> {
    fn needs_time(&self) -> bool {
        true
    }

    fn runs_without_messages(&self) -> bool {
        true
    }

    fn announced(&mut self) {
        self.0.announced();
    }

    fn start(&mut self, waker: &Waker) -> Result<()> {
        caught_as_error(|| self.0.start(waker)).map_err(|error| *error)
    }

    fn check(&mut self, at: &mut Situation<'_>) -> Result<Verdict> {
        let now = at.now;
        let answer = caught_as_error(|| self.0.check(now)).map_err(|error| *error)?;
        Ok(match answer {
            Answer::Until(later) if later > now => Verdict::Until(later),
            Answer::Ready | Answer::Until(_) => Verdict::Ready,
            Answer::Waiting => {
                at.waits.for_others();
                Verdict::OUTSIDE
            }
            Answer::Never => Verdict::Never,
        })
    }

    fn ticked(&mut self, now: Timestamp) -> Result<()> {
        caught_as_error(|| self.0.ticked(now)).map_err(|error| *error)
    }

    fn stop(&mut self) -> Result<()> {
        caught_as_error(|| self.0.stop()).map_err(|error| *error)
    }

    fn lack(&self, _: &NodePorts<'_>) -> Option<Lack> {
        let reason = caught(|| self.0.reason()).unwrap_or_else(|panic| panic);
        Some(Lack::outside(if reason.is_empty() { "another thread".into() } else { reason }))
    }

    fn ends(&self) -> Ends {
        let reason = caught(|| self.0.reason()).unwrap_or_else(|panic| panic);
        Ends {
            reason: if reason.is_empty() { "it says so".into() } else { reason },
            is_abandoned: false,
        }
    }
}

impl<C> fmt::Debug for Own<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Own")
    }
}
