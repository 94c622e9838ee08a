//! Models: loom tests that run the code of `streamflow` which several threads share, in every interleaving of a few
//! threads.
//!
//! The crate is empty unless it is compiled with `--cfg loom`; `.ci/run models` does that. See the README.
#![cfg(all(loom, test))]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a model fails by panicking")]
#![allow(dead_code, reason = "the library uses more of its code than the models")]
#![allow(unused_imports, reason = "as above")]
#![allow(unreachable_pub, reason = "some items of the library's code are public there")]

#[path = "../../../crates/streamflow-driver/src/caught.rs"]
mod caught;
#[path = "../../../streamflow/src/memory/element/mod.rs"]
mod element;
#[path = "../../../crates/streamflow-driver/src/log.rs"]
mod log;
#[path = "../../../crates/streamflow-driver/src/sync.rs"]
mod sync;

mod boxcar;
mod driver;
mod error;
mod explore;
mod forever;
mod handles;
mod lock;
mod memory;
mod spin;
mod spin_lock;
mod spsc_ring;
mod stream;
mod task_list;
mod turns;
mod workers;

// A program has one global allocator, so the mutants have no copy of it. They call it by the path `base`.
extern crate self as base;
pub(crate) mod allocations;
mod table;
