//! What streamflow's tests share.
//!
//! [`Suite`] runs one body on both platforms; [`layers`] break a driver on purpose; [`kernels`] are
//! slow on purpose; [`allocations`] counts what a thread allocates.

pub mod allocations;
mod harness;
pub mod kernels;
pub mod layers;
pub mod races;
pub mod random;
mod seeds;

pub use harness::{Failed, Suite, check, check_close};
