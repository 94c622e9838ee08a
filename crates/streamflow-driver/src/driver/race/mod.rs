//! A driver layer that reports races: accesses to the same memory that nothing orders. It also reports accesses to freed
//! memory, reads of what nobody wrote, and stale handles.
//!
//! A [`RaceChecker`] wraps a driver. `Platform::builder().race_check(true)` chooses it. A race is a [`RaceReport`]: a run of a
//! graph ends with `Error::Races`, and `Platform::take_races` returns the [`RaceReports`].
//!
#![doc = include_str!("README.md")]

mod access;
mod blank;
mod clock;
mod current_thread;
mod findings;
mod handles;
mod history;
mod host_function;
mod journal;
mod layer;
mod log;
mod observer;
mod op;
mod order;
mod queries;
mod shared;
mod site;
mod stamps;
mod state;
#[cfg(all(test, not(loom)))]
mod tests;
mod uses;
mod watch;

use std::sync::Arc;

use shared::Shared;
#[doc(hidden)]
pub use watch::RaceWatch;

pub use super::report::{
    RaceAccess, RaceAction, RaceHook, RaceKind, RaceMark, RaceReport, RaceReports,
};
use super::{DeviceId, Driver};

/// Wraps a driver and reports races. See the [module](self).
#[derive(Debug)]
pub struct RaceChecker {
    below: Arc<dyn Driver>,
    shared: Arc<Shared>,
}

impl RaceChecker {
    /// Wraps `below`. Memory that was allocated before is not checked, and streams that were made before count as
    /// blocking.
    pub fn new(below: Arc<dyn Driver>) -> Self {
        let devices = 0..below.device_count() as u32;
        let defaults = devices.map(|device| below.default_stream(DeviceId(device))).collect();
        Self { below, shared: Arc::new(Shared::new(defaults)) }
    }
}
