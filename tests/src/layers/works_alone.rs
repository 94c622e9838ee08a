//! A simulator that stands for a device that works on while the host makes no call.

use std::sync::Arc;

use streamflow::driver::Driver;
use streamflow_driver::driver::{Layer, Observer};

/// Says that queued work goes on while the host makes no call. So a scheduler that waits sleeps, and a thread of the
/// library takes memory back that other code has returned, as on a GPU. Below is a simulator that executes work at
/// submission, or the program queries the simulator in its waits.
#[derive(Debug)]
pub struct WorksAlone(pub Arc<dyn Driver>);

// SAFETY: every call is forwarded unchanged. A wait for work without calls may be long, and breaks no promise.
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
