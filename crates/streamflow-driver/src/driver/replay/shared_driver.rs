//! The driver below a [`Replaying`](super::Replaying), if that driver also has other owners.

use std::sync::Arc;

use crate::driver::{Driver, Layer};

/// A driver that other owners share.
#[derive(Debug, Clone)]
pub struct SharedDriver(pub(super) Arc<dyn Driver>);

// SAFETY: every call is forwarded unchanged, and so is its answer.
unsafe impl Layer for SharedDriver {
    fn below(&self) -> &dyn Driver {
        &*self.0
    }
}
