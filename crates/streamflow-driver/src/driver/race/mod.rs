//! A driver layer that reports races: accesses to the same memory that nothing orders. Three more reports are about accesses
//! to freed memory, reads of unwritten memory, and stale handles.
//!
//! A [`RaceChecker`] wraps a driver. `Platform::builder().race_check(true)` chooses it. A race is a [`RaceReport`]: a run of a
//! graph ends with `Error::Races`, and `Platform::take_races` returns the [`RaceReports`].
//!
#![doc = include_str!("README.md")]
#![doc = ""]
//! # When it watches
//!
//! A platform gets its checker when the platform is made, before its first stream; a checker can't be added later. The
//! platform's option `race_check` decides. Without the option, `STREAMFLOW_RACE_CHECK=1` enables the checker and `=0`
//! disables it; without the variable, debug builds have a checker and other builds don't. A driver that has a checker
//! gets no second one. While the checker is disabled, the driver has no layer for it.
//!
//! # Blind spots
//!
//! - Work that is queued past the driver and not declared, and memory that a host function touches.
//! - Memory that other code got unordered (DLPack's `stream=-1`) and gives back: no call declares that this code came after
//!   streamflow's work. That work is reported as a race, unless the adopting thread has found it complete.
//! - Accesses of kernels outside of their arguments (`STREAMFLOW_CHECK_BOUNDS=1` finds those).
//! - The elements of an argument that a kernel really uses: an argument counts as read or written in full. Two kernels that
//!   write alternate elements of one slice are reported as a race. A kernel that reads elements and then writes them, through
//!   one `&mut` argument, is not reported if nobody wrote them before. A kernel that reads a part of its argument is reported if
//!   another part was not written. Pass it a view of the part: the bytes of a view are compared exactly, at each of its up to
//!   eight dimensions.
//! - Reads of unwritten bytes, of a view with more than 256 rows.
//! - Races between the default stream and a non-blocking stream that was not made through this driver.
//! - During a download into ordinary memory: a record that another thread makes on the same stream counts as if it came
//!   after the download's read.
//! - A stale handle in a launch, a copy or a fill that the driver refuses: the driver's error reports the handle. A stale
//!   handle with a number that no later object has, once 1024 other objects were destroyed: the driver refuses the handle.
//! - Accesses to memory that was not allocated through this driver: they are counted, `RaceReports::unknown`.
//! - Accesses that were forgotten. The checker remembers the latest 128 accesses to one allocation that later ones can race
//!   with, 1024 unwritten ranges of one allocation, and the latest 1024 freed allocations. It counts what it forgets,
//!   `RaceReports::forgotten`.
//! - Accesses of the host as the *earlier* side. The host's accesses are compared with earlier work, and not remembered:
//!   later work with the same memory needs a borrow of it, and safe Rust orders borrows that conflict, also between
//!   threads. So no event can be missing between the two.
//! - Calls that this run did not make. A check covers all timings of the calls that were made. It covers no other branch of
//!   the program, and no other order in which threads meet.
//!
//! # Cost
//!
//! A launch, a record and a wait together cost some 45 ns with the journal and some 95 ns with the lock
//! (`tests/benches/race_check.rs`).

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
