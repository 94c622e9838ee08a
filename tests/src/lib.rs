//! What streamflow's tests share.
//!
//! [`Suite`] runs one body on both platforms, [`child`] in a process of its own; [`setup`] makes what
//! bodies begin with; [`layers`] break a driver on purpose; [`kernels`] are slow, broken or of every type
//! on purpose; [`allocations`] counts what a thread allocates.

pub mod allocations;
pub mod child;
pub mod foreign;
pub mod graph_runs;
mod harness;
pub mod kernels;
pub mod layers;
pub mod numbers;
pub mod operators;
pub mod ordered;
pub mod races;
pub mod random;
mod seeds;
pub mod seen;
pub mod setup;
pub mod stereo;
pub mod tensors;

pub use harness::{
    Failed, Suite, check, check_close, check_equal, check_error, check_races, check_text,
};
