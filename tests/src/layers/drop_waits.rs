//! A driver that forgets to wait.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use streamflow::driver::{Driver, DriverResult, Layer, RawEvent, RawStream};

/// Which waits are dropped.
type Filter = Box<dyn Fn(RawStream, RawEvent) -> bool + Send + Sync>;

/// Swallows waits of a stream for an event. What comes out wrong then was kept right by them.
pub struct DropWaits {
    below: Arc<dyn Driver>,
    filter: Filter,
    dropped: AtomicU64,
}

impl fmt::Debug for DropWaits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DropWaits")
            .field("below", &self.below)
            .field("dropped", &self.dropped())
            .finish_non_exhaustive()
    }
}

impl DropWaits {
    /// Swallows every wait.
    pub fn all(below: Arc<dyn Driver>) -> Self {
        Self::when(below, |_, _| true)
    }

    /// Swallows the waits for which `filter` says so.
    pub fn when(
        below: Arc<dyn Driver>,
        filter: impl Fn(RawStream, RawEvent) -> bool + Send + Sync + 'static,
    ) -> Self {
        Self { below, filter: Box::new(filter), dropped: AtomicU64::new(0) }
    }

    /// How many waits were swallowed: a control that swallowed none proves nothing.
    pub fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }
}

impl Drop for DropWaits {
    /// A race checker below has missed the waits. Whoever wants to know has asked by now; to others they
    /// are no failure.
    fn drop(&mut self) {
        let _missed = self.below.take_races();
    }
}

// SAFETY: it does not keep a driver's promises, on purpose: streams race that should wait. It stands
// below programs whose kernels compute numbers from numbers, at indices that depend on no data. What a
// race does there is wrong data, which is what the tests look for.
unsafe impl Layer for DropWaits {
    fn below(&self) -> &dyn Driver {
        &*self.below
    }

    unsafe fn wait_event(&self, stream: RawStream, event: RawEvent) -> DriverResult<()> {
        if (self.filter)(stream, event) {
            self.dropped.fetch_add(1, Ordering::Relaxed);
            return Ok(());
        }
        // SAFETY: the caller's contract.
        unsafe { self.below.wait_event(stream, event) }
    }
}
