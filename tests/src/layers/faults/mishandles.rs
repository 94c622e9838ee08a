//! Libraries that handle a failed call wrongly.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use streamflow::driver::{Driver, DriverError, RawStream};
use streamflow_driver::driver::{DriverResult, Launch, Layer, RawEvent};

use super::INJECTED;

/// The mistake when a launch fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// The error is swallowed.
    Swallows,
    /// The error is returned and logged.
    ReportsTwice,
    /// The error does not name the call.
    IsNameless,
    /// An event is not destroyed afterwards.
    Leaks,
    /// Events are destroyed twice afterwards.
    GivesBackTwice,
    /// All later launches fail, too.
    IsUnusable,
    /// All later launches are left out.
    IsWrong,
    /// All later waits are left out.
    DropsWaits,
    /// The call does not return.
    Hangs,
}

/// A library that mishandles a failed launch: a layer above the [`Injector`](super::Injector), for controls.
#[derive(Debug)]
pub struct Mishandles {
    below: Arc<dyn Driver>,
    how: How,
    has_failed: AtomicBool,
}

impl Mishandles {
    /// Passes all other calls to `below`.
    pub fn new(below: Arc<dyn Driver>, how: How) -> Self {
        Self { below, how, has_failed: AtomicBool::new(false) }
    }

    fn after(&self, how: How) -> bool {
        self.how == how && self.has_failed.load(Ordering::Relaxed)
    }
}

// SAFETY: this layer breaks a driver's promises on purpose, after a call has failed. The kernels of its programs
// compute plain numbers.
unsafe impl Layer for Mishandles {
    fn below(&self) -> &dyn Driver {
        &*self.below
    }

    unsafe fn launch(&self, stream: RawStream, launch: &Launch<'_>) -> DriverResult<()> {
        if self.after(How::IsWrong) {
            return Ok(());
        }
        if self.after(How::IsUnusable) {
            let (what, remedy) = ("this driver".to_owned(), "nothing helps".to_owned());
            return Err(DriverError::Unavailable { what, remedy });
        }
        // SAFETY: the caller keeps the same contract of the same method.
        let Err(error) = (unsafe { self.below.launch(stream, launch) }) else { return Ok(()) };
        self.has_failed.store(true, Ordering::Relaxed);
        match self.how {
            How::Swallows => return Ok(()),
            How::IsNameless => {
                let (what, remedy) = ("a call failed".to_owned(), INJECTED.to_owned());
                return Err(DriverError::Unavailable { what, remedy });
            }
            How::ReportsTwice => tracing::error!(%error, "a launch"),
            How::Hangs => loop {
                thread::park();
            },
            _ => {}
        }
        Err(error)
    }

    unsafe fn destroy_event(&self, event: RawEvent) -> DriverResult<()> {
        if self.after(How::Leaks) {
            return Ok(());
        }
        if self.after(How::GivesBackTwice) {
            // SAFETY: the injector below refuses to give back an object that is not alive.
            unsafe { self.below.destroy_event(event) }?;
        }
        // SAFETY: the caller keeps the same contract of the same method.
        unsafe { self.below.destroy_event(event) }
    }

    unsafe fn wait_event(&self, stream: RawStream, event: RawEvent) -> DriverResult<()> {
        if self.after(How::DropsWaits) {
            return Ok(());
        }
        // SAFETY: the caller keeps the same contract of the same method.
        unsafe { self.below.wait_event(stream, event) }
    }
}
