//! The library's signals, the parts of its driver that they and the claims need, and their models.

#[path = "../../../../streamflow/src/driver/listeners.rs"]
mod listeners;
pub(crate) mod models;
pub(crate) mod race;
#[path = "../../../../streamflow/src/driver/signal.rs"]
mod signal;

pub(crate) use listeners::Listeners;
pub(crate) use signal::Signal;

/// As in the library.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AccessMode {
    Read,
    Write,
}
