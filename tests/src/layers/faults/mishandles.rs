//! A layer that handles a failed call wrongly, as a buggy library would.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use streamflow::driver::{Driver, DriverError, RawStream};
use streamflow_driver::driver::{DriverResult, Launch, Layer, RawEvent};

use super::INJECTED;

/// What the layer does wrong after a failed launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// It reports success.
    Swallows,
    /// It returns the error and also logs it.
    ReportsTwice,
    /// It returns an error that does not name the call.
    IsNameless,
    /// It does not destroy one of the events afterwards.
    Leaks,
    /// It destroys events twice afterwards.
    GivesBackTwice,
    /// It lets all later launches fail, too.
    IsUnusable,
    /// It leaves all later launches out.
    IsWrong,
    /// It leaves all later waits out.
    DropsWaits,
    /// It never returns from the call.
    Hangs,
}

/// A layer that mishandles a failed launch. It lies above the [`Injector`](super::Injector), and is for control tests.
#[derive(Debug)]
pub struct Mishandles {
    below: Arc<dyn Driver>,
    how: How,
    has_failed: AtomicBool,
}

impl Mishandles {
    /// Creates the layer above `below`, to which all other calls are passed.
    pub fn new(below: Arc<dyn Driver>, how: How) -> Self {
        Self { below, how, has_failed: AtomicBool::new(false) }
    }

    fn after(&self, how: How) -> bool {
        self.how == how && self.has_failed.load(Ordering::Relaxed)
    }
}

// SAFETY: this layer breaks a driver's promises on purpose, after a call has failed. The kernels of its programs compute
// plain numbers.
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
