//! A driver layer that reports races: accesses to the same memory that nothing orders. The layer also reports accesses to
//! freed memory, reads of unwritten memory, and stale handles.
//!
//! A [`RaceChecker`] wraps a driver; `Platform::builder().race_check(true)` makes one. Each race is a [`RaceReport`]. If
//! races were found, a run of a graph ends with `Error::Races`, and `Platform::take_races` returns the [`RaceReports`].
//!
#![doc = include_str!("README.md")]
#![doc = ""]
//! # When a platform has a checker
//!
//! A platform gets its checker when the platform is made, before its first stream; a checker can't be added later. The
//! platform's option `race_check` decides. Without the option, `STREAMFLOW_RACE_CHECK=1` enables the checker and `=0`
//! disables it. Without the variable, debug builds have a checker and other builds don't. A driver that has a checker gets
//! no second one. If the checker is disabled, the driver has no layer for it.
//!
//! # Blind spots
//!
//! - Work that other code queues without the checked driver and that is not declared, and memory that a host function
//!   touches.
//! - Memory that other code got without an order (DLPack's `stream=-1`) and gives back: no call declares that this code came
//!   after streamflow's work. Later uses are reported as races with that work, unless the adopting thread has found the work
//!   complete.
//! - Accesses of kernels to memory that is in none of their arguments (`STREAMFLOW_CHECK_BOUNDS=1` finds those).
//! - The elements of an argument that a kernel really uses: each argument counts as read or written in full. Two kernels
//!   that write alternate elements of one slice are reported as a race. A kernel that reads elements and then writes them,
//!   through one `&mut` argument, is not reported if nobody had written them. A kernel that reads a part of its argument is
//!   reported if another part was not written. To avoid that, pass the kernel a view of the part: the bytes of a view are
//!   compared exactly, in each of its up to eight dimensions.
//! - Reads of unwritten bytes through a view with more than 256 rows.
//! - Races between the default stream and a non-blocking stream that was not made through the checker.
//! - During a download into ordinary memory: a record that another thread makes on the same stream counts as if it came
//!   after the download's read.
//! - A stale handle in a launch, a copy or a fill that the driver refuses: the driver's error reports the handle. A stale
//!   handle whose number no later object has, after 1024 other objects were destroyed: the driver refuses the handle.
//! - Accesses to memory that was not allocated through the checker: they are only counted, in `RaceReports::unknown`.
//! - Accesses that the checker has forgotten. For each allocation it remembers the latest 128 accesses that later ones can
//!   race with, and 1024 unwritten ranges. It also remembers the latest 1024 freed allocations. `RaceReports::forgotten`
//!   counts the accesses, ranges and allocations that were forgotten.
//! - Accesses of the host as the *earlier* ones. An access of the host is compared with earlier work, and not remembered:
//!   later work on the same memory needs a borrow of it, and safe Rust orders borrows that conflict, also between threads.
//!   So no event can be missing between the access and the work.
//! - Calls that this run did not make. The check covers all timings of the calls that were made. It covers no other branch
//!   of the program, and no other order in which threads synchronise.
//!
//! # Cost
//!
//! A launch, a record and a wait together cost some 45 ns if the journal notes them, and some 95 ns under the lock
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

/// A driver layer that reports races. See the [module](self).
#[derive(Debug)]
pub struct RaceChecker {
    below: Arc<dyn Driver>,
    shared: Arc<Shared>,
}

impl RaceChecker {
    /// Wraps `below`. Memory that was allocated before this call is not checked, and streams that were made before count as
    /// blocking.
    pub fn new(below: Arc<dyn Driver>) -> Self {
        let devices = 0..below.device_count() as u32;
        let defaults = devices.map(|device| below.default_stream(DeviceId(device))).collect();
        Self { below, shared: Arc::new(Shared::new(defaults)) }
    }
}
