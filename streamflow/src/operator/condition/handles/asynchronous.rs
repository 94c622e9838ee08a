//! `#[when(asynchronous(handle))]`: a node that runs once for each call of `AsyncHandle::notify`.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{ABANDONED, Listening, Sharers};
use crate::context::Waker;
use crate::error::{Error, Result};
use crate::operator::condition::answers::Verdict;
use crate::operator::condition::term::{Ends, Lack, NodePorts, Situation, Term};
use crate::turns;

/// Permits the ticks of a node one by one: `#[when(asynchronous(handle))]`. All clones of a handle, on any thread, share one
/// count of notices.
///
/// Each notice permits exactly one tick. Notices are counted and none is lost, also if they come before the run, between two
/// runs, or while the node waits for a message. Several nodes, also of several graphs, may use the same handle: each notice then
/// permits one tick of one of these nodes.
///
/// An operator without required inputs runs with this condition once for each notice, even without a message.
///
/// A run does not end while a node of it waits for a notice. After [`close`](Self::close), the node ends when the notices are
/// used up. The node also ends so when all handles are dropped; but if messages still wait for it then, the run has
/// [stalled](crate::Error::Stalled). On an edge with `policy(pop)` or `policy(reject)` these messages are dropped instead.
///
/// The guide's page [workers and threads](crate::guide::threads) has a source that another thread feeds, and a sink for a slow
/// thread. If a clone of the handle exists and is never closed, `run()` never returns.
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
    /// The number of unused notices, and the bit [`CLOSED`].
    notices: AtomicU64,
    sharers: Sharers,
}

/// The bit that is set when the handle is closed. It is in the same word as the number of notices, so no notice can be added
/// after it.
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

    /// Adds a notice, which permits one more tick. The call allocates nothing.
    ///
    /// # Errors
    /// [`Error::Handle`] if the handle was closed, or if all graphs with it were dropped. After an error, no notice was added.
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

    /// Closes the handle: its nodes end as soon as the notices are used up.
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

/// The condition `asynchronous(handle)`: it lets a node run once for each notice.
#[derive(Debug)]
pub(in crate::operator::condition) struct Notices {
    state: Arc<State>,
    listening: Listening,
    /// Whether the condition has claimed a notice for the node's next tick.
    has_claimed: bool,
}

impl Notices {
    pub(in crate::operator::condition) fn new(handle: &AsyncHandle) -> Self {
        handle.0.sharers.add_condition();
        Self { state: handle.0.clone(), listening: Listening::default(), has_claimed: false }
    }

    fn end(&mut self) {
        // If the run ended before the tick for a claimed notice, return the notice for the next run or another node.
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
        // Read this before the notices: the owner of the last handle may have called `notify` just before it dropped the handle.
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
