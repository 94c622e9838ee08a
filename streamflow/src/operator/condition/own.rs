//! Conditions of a user's own types: `#[when(condition(value))]`.

use std::fmt;

use super::answers::Verdict;
use super::term::{Ends, Lack, NodePorts, Situation, Term};
use crate::caught::caught;
use crate::context::Waker;
use crate::error::{Result, caught_as_error};
use crate::time::Timestamp;

/// The answer of a [`Condition`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Answer {
    /// The node may run.
    Ready,
    /// The condition shall be checked again at this moment. A moment that has passed is as good as `Ready`.
    Until(Timestamp),
    /// The condition shall be checked again when something has called [`Waker::wake`].
    Waiting,
    /// The node will not run again in this run.
    Never,
}

/// A condition of your own: `#[when(condition(value))]` adds it to a node.
///
/// The scheduler checks the condition only while the node has all its messages and all its room. With such a condition,
/// an operator with optional inputs alone also runs without a message.
///
/// A panic in one of these functions is an error of the node; in `reason`, its text is the reason.
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
    /// Returns whether the node may run. Each pass of the scheduler calls this, so it must return at once.
    fn check(&mut self, now: Timestamp) -> Answer;

    /// A run was made, on the thread that asked for it. `start` follows on the thread of the run.
    #[doc(hidden)]
    fn announced(&mut self) {}

    /// Called at the begin of a run. The code that changes the condition keeps a clone of `waker`, and calls it *after*
    /// each change: otherwise a scheduler that sleeps does not see the change.
    fn start(&mut self, waker: &Waker) {
        let _ = waker;
    }

    /// Called after a tick of the node. `now` is the moment of the last check, at which this condition held.
    fn ticked(&mut self, now: Timestamp) {
        let _ = now;
    }

    /// Called at the end of a run, once for each run, also if a `start` hook has failed before this condition was
    /// started. The `stop` hook of the node's operator comes after it.
    fn stop(&mut self) {}

    /// Returns the reason why the condition does not hold, for reports. Called only when a report is made.
    fn reason(&self) -> String {
        String::new()
    }
}

/// A user's condition, in the list of its node.
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
