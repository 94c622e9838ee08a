//! The driver that one run gets, which shows when the run is over.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

use streamflow::driver::Driver;
use streamflow_driver::driver::Layer;

use super::Gates;

/// A layer that passes all calls on. When the last user of this driver drops it, a channel is closed.
#[derive(Debug)]
pub(super) struct Run {
    below: Arc<Gates>,
    _closes: Sender<()>,
}

impl Run {
    pub(super) fn new(below: Arc<Gates>) -> (Self, Receiver<()>) {
        let (closes, closed) = channel();
        (Self { below, _closes: closes }, closed)
    }
}

// SAFETY: each call is forwarded unchanged.
unsafe impl Layer for Run {
    fn below(&self) -> &dyn Driver {
        &*self.below
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;

    use streamflow::driver::host::HostDriver;
    use streamflow_driver::driver::DriverResult;

    use super::*;

    #[test]
    fn a_run_ends_when_no_thread_has_its_driver() -> DriverResult<()> {
        let gates = Arc::new(Gates::new(Arc::new(HostDriver::builder().build()))?);
        let is_dropped = Arc::new(AtomicBool::new(false));
        let (returns, returned) = channel::<()>();
        let ended = gates.behind(|driver| {
            let (_returns, is_dropped) = (returns, is_dropped.clone());
            thread::spawn(move || {
                let _closed = returned.recv();
                (0..1000).for_each(|_| thread::yield_now());
                is_dropped.store(true, Ordering::Release);
                drop(driver);
            });
        })?;
        assert!(ended.is_over && is_dropped.load(Ordering::Acquire));
        Ok(())
    }
}
