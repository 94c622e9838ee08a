//! Mutants of the code of `streamflow` that threads share, each with the model that must find it.
//!
//! The crate is empty unless it is compiled with `--cfg loom`; `.ci/run models` does that. See the README of the
//! models. The crate is separate from the models, since most mutants are found at once, and optimizing their code would
//! take longer than it saves.
#![cfg(all(loom, test))]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a model fails by panicking")]

// Includes one module per mutant, which the build script `build.rs` has written.
include!(concat!(env!("OUT_DIR"), "/mutants.rs"));

// A program has one global allocator, in the module `allocations`. The mutants name this crate `base`.
extern crate self as base;
#[path = "../../src/allocations.rs"]
pub(crate) mod allocations;
