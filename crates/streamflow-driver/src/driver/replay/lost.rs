//! The loss of the driver, after a held-back call was sent and has failed.
//!
//! The held-back call had returned success to its caller, and so had all calls since. Messages were emitted, state was
//! updated, downloads were handed to other threads, and none of that can be undone. So the driver behaves as after a sticky
//! error of the device: each later call that would queue work, query or wait is refused, and nothing is destroyed or freed.
//! No query says that the work was done. A held-back call equals one that has succeeded before, so in practice it fails only
//! if the device itself is lost.

use std::sync::{Arc, OnceLock};

use super::trace::Given;
use crate::driver::{DriverError, DriverResult, Sticky};

/// The reason why the driver is lost; empty while it is not. The state sets the reason; calls read it without the state's
/// lock.
#[derive(Debug, Clone, Default)]
pub(super) struct Lost(Arc<OnceLock<Sticky>>);

impl Lost {
    pub(super) fn cause(&self) -> Option<&Sticky> {
        self.0.get()
    }

    /// Sets the reason why the driver is lost. Calls are refused from now on.
    #[cold]
    pub(super) fn set(&self, error: &DriverError) {
        self.0.get_or_init(|| sticky(error));
    }

    /// Refuses `call` with an error if the driver is lost.
    #[inline]
    pub(super) fn usable(&self, call: &'static str) -> DriverResult<()> {
        match self.cause() {
            None => Ok(()),
            Some(cause) => Err(DriverError::Sticky { call, cause: cause.clone() }),
        }
    }
}

/// The name of a call in error messages.
pub(super) fn name_of(given: &Given<'_>) -> &'static str {
    match given {
        Given::Launch(_) => "a launch",
        Given::Copy(_) => "a copy",
        Given::Fill(..) => "a fill",
        Given::Recycle(_) => "memory that is used again",
        Given::Record(..) => "a record",
        Given::Wait(..) => "a wait",
        Given::Library(..) => "a call of a library",
    }
}

fn sticky(error: &DriverError) -> Sticky {
    const WHY: &str =
        "it had succeeded for its caller, so the data of this platform is not what it is taken for";
    match error {
        DriverError::Sticky { cause, .. } => cause.clone(),
        DriverError::Call { call, code, name, message, .. } => {
            Sticky { call, code: *code, name: name.clone(), message: format!("{message}; {WHY}") }
        }
        other => {
            let message = format!("{other}; {WHY}");
            Sticky { call: "replay", code: -1, name: "HELD_BACK_CALL".into(), message }
        }
    }
}
