//! `#[when(boolean(handle))]`: a node that another thread switches on and off.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::{ABANDONED, Listening, Sharers};
use crate::context::Waker;
use crate::error::Result;
use crate::operator::condition::answers::Verdict;
use crate::operator::condition::term::{Ends, Lack, NodePorts, Situation, Term};
use crate::turns;

/// Switches nodes on and off: `#[when(boolean(handle))]`. All clones of a handle, on any thread, have one value.
///
/// While the handle is off, its nodes wait. Holoscan differs: there, a `BooleanCondition` that is off ends its operator for good.
/// Several nodes, also of several graphs, may use the same handle, which switches all of them.
///
/// When all handles are dropped, the last value stays. A node that is off then never runs again; if messages wait for the node,
/// the run has [stalled](crate::Error::Stalled).
///
/// ```
/// use streamflow::operator::BooleanHandle;
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
///     struct Recording(records: BooleanHandle) {
///         #[when(count(3), boolean(records))]
///         let camera: Camera = Camera::new();
///         camera.frame >> _;
///     }
/// }
///
/// # fn main() -> Result<()> {
/// let records = BooleanHandle::new(false);
/// let mut graph = Recording::new(&Platform::host().build()?, records.clone())?;
/// let button = std::thread::spawn(move || records.set(true));
/// let report = graph.run()?;
/// assert_eq!(report.ticks("camera"), Some(3));
/// button.join().expect("it does not panic")?;
/// # Ok(())
/// # }
/// ```
#[must_use = "the node ends when all its handles are dropped"]
#[derive(Debug)]
pub struct BooleanHandle(Arc<State>);

#[derive(Debug)]
struct State {
    is_on: AtomicBool,
    sharers: Sharers,
}

impl BooleanHandle {
    /// Creates a handle that is on, if `is_on` is true, or off.
    pub fn new(is_on: bool) -> Self {
        Self(Arc::new(State { is_on: AtomicBool::new(is_on), sharers: Sharers::new() }))
    }

    /// Switches the handle's nodes on or off. A tick that is running is not interrupted. The call allocates nothing.
    ///
    /// # Errors
    /// [`Error::Handle`](crate::Error::Handle) if all graphs with this handle were dropped. After an error, the value is
    /// unchanged.
    pub fn set(&self, is_on: bool) -> Result<()> {
        self.0.sharers.check("BooleanHandle")?;
        self.0.is_on.store(is_on, Ordering::Release);
        turns::point("the value is set, and no scheduler is woken yet");
        self.0.sharers.listeners.raise();
        Ok(())
    }

    /// Returns whether the handle is on.
    pub fn get(&self) -> bool {
        self.0.is_on.load(Ordering::Acquire)
    }
}

impl Clone for BooleanHandle {
    fn clone(&self) -> Self {
        self.0.sharers.add_handle();
        Self(self.0.clone())
    }
}

impl Drop for BooleanHandle {
    fn drop(&mut self) {
        self.0.sharers.remove_handle();
    }
}

/// The condition `boolean(handle)`: it lets a node run while the handle is on.
#[derive(Debug)]
pub(in crate::operator::condition) struct Gate {
    state: Arc<State>,
    listening: Listening,
}

impl Gate {
    pub(in crate::operator::condition) fn new(handle: &BooleanHandle) -> Self {
        handle.0.sharers.add_condition();
        Self { state: handle.0.clone(), listening: Listening::default() }
    }

    fn is_on(&self) -> bool {
        self.state.is_on.load(Ordering::Acquire)
    }
}

impl Term for Gate {
    fn start(&mut self, waker: &Waker) -> Result<()> {
        self.listening.begin(&self.state.sharers, waker);
        Ok(())
    }

    fn check(&mut self, at: &mut Situation<'_>) -> Result<Verdict> {
        // Read this before the value: the owner of the last handle may have called `set` just before it dropped the handle.
        let is_abandoned = self.state.sharers.is_abandoned();
        Ok(match self.is_on() {
            true => Verdict::Ready,
            false if is_abandoned => Verdict::Never,
            false => {
                at.waits.for_others();
                Verdict::OUTSIDE
            }
        })
    }

    fn stop(&mut self) -> Result<()> {
        self.listening.end(&self.state.sharers);
        Ok(())
    }

    fn lack(&self, _: &NodePorts<'_>) -> Option<Lack> {
        (!self.is_on()).then(|| Lack::outside("its handle to be on".into()))
    }

    fn ends(&self) -> Ends {
        Ends { reason: ABANDONED.into(), is_abandoned: true }
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        self.listening.end(&self.state.sharers);
        self.state.sharers.remove_condition();
    }
}
