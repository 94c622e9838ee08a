//! A shared driver as the driver below a driver that replays.

use std::sync::Arc;

use crate::driver::{Driver, Layer};

/// A shared driver.
#[derive(Debug, Clone)]
pub struct SharedDriver(pub(super) Arc<dyn Driver>);

// SAFETY: every call is forwarded unchanged, and so is its answer.
unsafe impl Layer for SharedDriver {
    fn below(&self) -> &dyn Driver {
        &*self.0
    }
}
