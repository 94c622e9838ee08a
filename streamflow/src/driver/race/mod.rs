//! A layer that finds races: accesses that nothing orders.
//!
//! A [`RaceChecker`] wraps a driver and watches what passes. Two accesses to overlapping bytes, one of
//! them a write, of which neither comes after the other, are a [`RaceReport`], whether or not this run's
//! data was wrong. A run of a graph in which there was one ends with [`Error::Races`](crate::Error::Races);
//! elsewhere [`Platform::take_races`](crate::Platform::take_races) has them.
//!
//! # When it watches
//!
//! It is a part of how a platform is made, below its first stream, so it can't be asked for too late.
//! [`PlatformOptions::race_check`](crate::PlatformOptions::race_check) and
//! [`HostPlatform::race_check`](crate::HostPlatform::race_check) decide. Where the program does not say,
//! `STREAMFLOW_RACE_CHECK=1` switches it on and `=0` off; without that it is on in debug builds and off
//! in others. A driver that has a checker already gets no second one. Where it is off it is not there.
//!
//! # What orders
//!
//! - Work on one stream, in the order in which it is queued.
//! - A wait for an event: the work after it comes after all before the event's latest record.
//! - The host: what a thread has found complete comes before what it queues from then on. It finds
//!   out by synchronising with a stream or an event, by a query that answers "complete", and by a copy
//!   into ordinary memory. A copy *from* ordinary memory says nothing: CUDA may return before the data
//!   has arrived.
//! - The legacy default stream and the blocking streams of its device, among each other.
//! - A host function: when it is called, all before it is complete.
//! - `allocate`: the driver hands memory out only after its `free`, so the earlier accesses are over.
//!   It orders nothing else.
//!
//! # What touches memory
//!
//! Launches, by their kernels' types; copies and fills; allocation, reuse and release, which are writes,
//! since nobody may use the memory before or after; [pinned](crate::Pinned) memory and
//! [downloads](crate::Download) where the host gets a slice of them;
//! [raw addresses](crate::CudaStream::read_raw) where they are handed out, as if all that is queued with
//! them was queued there. All this is taken from the calls, never from what the runtime keeps to order
//! its work.
//!
//! # Threads
//!
//! What one thread has found complete, another does not know. Between threads an order is handed over
//! with a stream (its work stays in order, whoever queues it), with an event, and at one place of the
//! runtime: where it skips a wait because some thread has found the stream's work complete before
//! ([`Note::Relies`](super::Note::Relies)). What was found is taken from the calls there, too; the note
//! says only that somebody goes by it.
//!
//! Accesses of the host are compared with the device's earlier ones, and not remembered: what is queued
//! later with the same memory needs a borrow of it, and safe Rust orders borrows that conflict, also of
//! two threads. No event could be missing there.
//!
//! # What is not seen
//!
//! - Work that is queued past the driver and not declared, and what a host function touches.
//! - Accesses of kernels outside of their arguments (`STREAMFLOW_CHECK_BOUNDS=1` finds those), and
//!   which elements of an argument are really used: two kernels that write every other element of one
//!   slice are a race here.
//! - Memory that was not allocated by this driver: it is counted, [`RaceReports::unknown`].
//! - What was forgotten: of one allocation the latest 128 accesses that later ones can race with are
//!   kept, and of freed memory the latest 1024 allocations. It is counted, [`RaceReports::forgotten`].
//! - Orders that this run did not take. A check covers all timings of the calls that were made, and not
//!   other calls: those of another branch of the program, or of threads that meet in another way.
//!
//! # Cost
//!
//! The calls of the thread that first queued something are noted in a journal without a lock; other
//! threads take a lock. So a race is found when the journal is full, when a thread waits or asks, when a
//! hook ends, or when reports are taken. In the steady state nothing is allocated. A launch, a record and
//! a wait together cost some 45 ns by the journal and some 65 by the lock (`tests/benches/race_check.rs`).

mod clock;
mod current_thread;
mod findings;
mod handles;
mod history;
mod host_function;
mod journal;
mod layer;
mod log;
mod op;
mod order;
mod shared;
mod site;
mod state;
#[cfg(test)]
mod tests;
mod uses;
mod watch;

use std::sync::Arc;

use shared::Shared;
pub(crate) use watch::RaceWatch;

pub use super::report::{RaceAccess, RaceAction, RaceHook, RaceMark, RaceReport, RaceReports};
use super::{DeviceId, Driver};

/// Wraps a driver and looks for races. See the [module](self).
#[derive(Debug)]
pub struct RaceChecker {
    below: Arc<dyn Driver>,
    shared: Arc<Shared>,
}

impl RaceChecker {
    /// Wraps `below`. Streams and memory that were made before are not known: the memory is not looked
    /// at, and the streams are taken for non-blocking.
    pub fn new(below: Arc<dyn Driver>) -> Self {
        let devices = 0..below.device_count() as u32;
        let defaults = devices.map(|device| below.default_stream(DeviceId(device))).collect();
        Self { below, shared: Arc::new(Shared::new(defaults)) }
    }
}
