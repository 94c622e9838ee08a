//! A layer that drops waits of streams for events.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use streamflow::driver::{Driver, RawStream};
use streamflow_driver::driver::{DriverResult, Layer, RawEvent};

/// Selects the waits to drop, by the stream that waits and the event.
type Filter = Box<dyn Fn(RawStream, RawEvent) -> bool + Send + Sync>;

/// A layer that drops waits of streams for events. A program whose data is then wrong depends on these waits.
pub struct DropWaits {
    below: Arc<dyn Driver>,
    filter: Filter,
    drops_device: bool,
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
    /// Creates a layer that drops every wait.
    pub fn all(below: Arc<dyn Driver>) -> Self {
        let mut all = Self::when(below, |_, _| true);
        all.drops_device = true;
        all
    }

    /// Creates a layer that drops only the waits for all work of a device.
    pub fn of_device(below: Arc<dyn Driver>) -> Self {
        let mut device = Self::when(below, |_, _| false);
        device.drops_device = true;
        device
    }

    /// Creates a layer that drops the waits that `filter` selects.
    pub fn when(
        below: Arc<dyn Driver>,
        filter: impl Fn(RawStream, RawEvent) -> bool + Send + Sync + 'static,
    ) -> Self {
        Self { below, filter: Box::new(filter), drops_device: false, dropped: AtomicU64::new(0) }
    }

    /// Returns how many waits were dropped. A control that dropped none proves nothing.
    pub fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }
}

impl Drop for DropWaits {
    /// Discards the races of a race checker below, which has not seen the dropped waits. A test that needs the races has
    /// taken them already; in other tests they are no failure.
    fn drop(&mut self) {
        let _missed = self.below.observer().take_races();
    }
}

// SAFETY: this layer breaks a driver's promises on purpose: work of streams races, since their waits are dropped. The
// kernels of its programs compute numbers from numbers, at indices that do not depend on data. A race makes only wrong
// data, and the tests look for that.
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

    /// A wait for all work of a device, without an event. It is dropped by [`all`](Self::all) and by
    /// [`of_device`](Self::of_device).
    unsafe fn wait_for_device(&self, stream: RawStream) -> DriverResult<()> {
        if self.drops_device {
            self.dropped.fetch_add(1, Ordering::Relaxed);
            return Ok(());
        }
        // SAFETY: the caller's contract.
        unsafe { self.below.wait_for_device(stream) }
    }
}
