//! A layer that makes a simulator appear as a device that works on while the host makes no call.

use std::sync::Arc;

use streamflow::driver::Driver;
use streamflow_driver::driver::{Layer, Observer};

/// A layer that says that queued work goes on while the host makes no call. So a scheduler that waits sleeps, and a
/// thread of the library takes back memory that other code has returned, as on a GPU. The driver below is a simulator
/// that executes work at submission, or the program queries the simulator while it waits.
#[derive(Debug)]
pub struct WorksAlone(pub Arc<dyn Driver>);

// SAFETY: every call is forwarded unchanged. A thread may wait long for work if no call is made, but that breaks no
// promise.
unsafe impl Layer for WorksAlone {
    fn below(&self) -> &dyn Driver {
        &*self.0
    }

    fn observer(&self) -> &dyn Observer {
        self
    }
}

impl Observer for WorksAlone {
    fn next(&self) -> Option<&dyn Observer> {
        Some(self.0.observer())
    }

    fn works_alone(&self) -> bool {
        true
    }
}
