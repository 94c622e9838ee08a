//! Models: the code of `streamflow` that threads share, in every interleaving of a few threads.
//!
//! The crate is empty unless it is compiled with `--cfg loom`; `.ci/run models` does that. See the README.
#![cfg(all(loom, test))]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a model fails by panicking")]
#![allow(dead_code, reason = "the library uses more of its code than the models")]
#![allow(unreachable_pub, reason = "some items of the library's code are public there")]

#[path = "../../../streamflow/src/sync.rs"]
mod sync;

mod driver;
mod explore;
mod lock;
mod memory;
mod stream;
mod turns;

// For each mutant, all of the modules above, with an edit of the library's code: see `build.rs`.
include!(concat!(env!("OUT_DIR"), "/mutants.rs"));
