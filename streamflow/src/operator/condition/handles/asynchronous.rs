//! `#[when(asynchronous(handle))]`: a node that runs once for each notice of another thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{ABANDONED, Listening, Sharers};
use crate::context::Waker;
use crate::error::{Error, Result};
use crate::operator::condition::answers::Verdict;
use crate::operator::condition::term::{Ends, Lack, NodePorts, Situation, Term};
use crate::turns;

/// Permits ticks one by one: `#[when(asynchronous(handle))]`. All clones, on any thread, share one number of notices.
///
/// Each notice permits exactly one tick. Notices are counted, and none is lost: not those before the run, between two
/// runs, or while the node waits for a message. Several nodes, also of several graphs, may have the same handle: each
/// notice is for one of them.
///
/// An operator without required inputs and with this condition runs for each notice, without a message.
///
/// A run goes on while its node waits for a notice. After [`close`](Self::close) the node ends with the last notice.
/// After the drop of all handles the node ends in the same way; but if messages still wait for it, the run has
/// [stalled](crate::Error::Stalled). Messages on an edge with `policy(pop)` or `policy(reject)` are dropped instead.
///
/// The guide's page [workers and threads](crate::guide::threads) has a source that a thread feeds, and a sink for a slow
/// thread. If a clone is kept and never closed, `run()` waits for ever.
///
/// ```
/// use streamflow::operator::AsyncHandle;
/// use streamflow::prelude::*;
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
///     struct Triggered(trigger: AsyncHandle) {
///         #[when(asynchronous(trigger))]
///         let camera: Camera = Camera::new();
///         camera.frame >> _;
///     }
/// }
///
/// # fn main() -> Result<()> {
/// let trigger = AsyncHandle::new();
/// let mut graph = Triggered::new(&Platform::host().build()?, trigger.clone())?;
/// let button = std::thread::spawn(move || {
///     (0..3).try_for_each(|_| trigger.notify())?;
///     trigger.close();
///     Ok::<(), Error>(())
/// });
/// let report = graph.run()?;
/// assert_eq!(report.ticks("camera"), Some(3));
/// button.join().expect("it does not panic")?;
/// # Ok(())
/// # }
/// ```
#[must_use = "the node ends when all its handles are dropped"]
#[derive(Debug)]
pub struct AsyncHandle(Arc<State>);

#[derive(Debug)]
struct State {
    /// The number of notices, and [`CLOSED`].
    notices: AtomicU64,
    sharers: Sharers,
}

/// The bit that is set when no more notices will come. It shares a word with the number, so no notice comes after it.
const CLOSED: u64 = 1 << 63;

impl AsyncHandle {
    /// Creates a handle without notices.
    #[allow(
        clippy::new_without_default,
        reason = "a default handle would have no meaning of its own"
    )]
    pub fn new() -> Self {
        Self(Arc::new(State { notices: AtomicU64::new(0), sharers: Sharers::new() }))
    }

    /// Permits one tick more. The call allocates nothing.
    ///
    /// # Errors
    /// [`Error::Handle`] if the handle was closed, or all graphs with it were dropped; then nothing changes.
    pub fn notify(&self) -> Result<()> {
        self.0.sharers.check("AsyncHandle")?;
        let add = |notices: u64| (notices & CLOSED == 0).then_some(notices + 1);
        if self.0.notices.fetch_update(Ordering::AcqRel, Ordering::Acquire, add).is_err() {
            let problem = "it was closed, so it permits no more ticks; notify before `close`, or make a new handle";
            return Err(Error::Handle { handle: "AsyncHandle", problem });
        }
        turns::point("the notice is counted, and no scheduler is woken yet");
        self.0.sharers.listeners.raise();
        Ok(())
    }

    /// Ends the nodes as soon as the notices are used up.
    pub fn close(&self) {
        self.0.notices.fetch_or(CLOSED, Ordering::AcqRel);
        turns::point("the handle is closed, and no scheduler is woken yet");
        self.0.sharers.listeners.raise();
    }
}

impl Clone for AsyncHandle {
    fn clone(&self) -> Self {
        self.0.sharers.add_handle();
        Self(self.0.clone())
    }
}

impl Drop for AsyncHandle {
    fn drop(&mut self) {
        self.0.sharers.remove_handle();
    }
}

/// The condition that lets a node run once for each notice.
#[derive(Debug)]
pub(in crate::operator::condition) struct Notices {
    state: Arc<State>,
    listening: Listening,
    /// Whether the node has taken the notice for the next tick.
    has_claimed: bool,
}

impl Notices {
    pub(in crate::operator::condition) fn new(handle: &AsyncHandle) -> Self {
        handle.0.sharers.add_condition();
        Self { state: handle.0.clone(), listening: Listening::default(), has_claimed: false }
    }

    fn end(&mut self) {
        // If the run ended before the tick, the notice is for the next run, or for another node.
        self.unclaim();
        self.listening.end(&self.state.sharers);
    }

    fn notices(&self) -> u64 {
        self.state.notices.load(Ordering::Acquire)
    }
}

impl Term for Notices {
    fn is_used_up(&self) -> bool {
        true
    }

    fn runs_without_messages(&self) -> bool {
        true
    }

    fn start(&mut self, waker: &Waker) -> Result<()> {
        self.listening.begin(&self.state.sharers, waker);
        Ok(())
    }

    fn check(&mut self, at: &mut Situation<'_>) -> Result<Verdict> {
        // Read before the notices: the last handle may have notified just before it was dropped.
        let is_abandoned = self.state.sharers.is_abandoned();
        let notices = self.notices();
        Ok(if self.has_claimed || notices & !CLOSED > 0 {
            Verdict::Ready
        } else if is_abandoned || notices & CLOSED != 0 {
            Verdict::Never
        } else {
            at.waits.for_others();
            Verdict::OUTSIDE
        })
    }

    fn claim(&mut self) -> bool {
        if !self.has_claimed {
            let take = |notices: u64| (notices & !CLOSED > 0).then(|| notices - 1);
            let taken = self.state.notices.fetch_update(Ordering::AcqRel, Ordering::Acquire, take);
            self.has_claimed = taken.is_ok();
        }
        self.has_claimed
    }

    fn ticked(&mut self, _: crate::time::Timestamp) -> Result<()> {
        self.has_claimed = false;
        Ok(())
    }

    fn unclaim(&mut self) {
        if std::mem::take(&mut self.has_claimed) {
            self.state.notices.fetch_add(1, Ordering::AcqRel);
            self.state.sharers.listeners.raise();
        }
    }

    fn stop(&mut self) -> Result<()> {
        self.end();
        Ok(())
    }

    fn lack(&self, _: &NodePorts<'_>) -> Option<Lack> {
        let is_used_up = !self.has_claimed && self.notices() & !CLOSED == 0;
        is_used_up.then(|| Lack::outside("a notice".into()))
    }

    fn ends(&self) -> Ends {
        let is_closed = self.notices() & CLOSED != 0;
        let reason =
            if is_closed { "its handle was closed, and all notices are used" } else { ABANDONED };
        Ends { reason: reason.into(), is_abandoned: !is_closed }
    }
}

impl Drop for Notices {
    fn drop(&mut self) {
        self.end();
        self.state.sharers.remove_condition();
    }
}
