//! The code of streamflow's example programs.
//!
//! The pipelines are library modules with references in plain Rust, so that the tests and the benchmarks run the same code as the
//! programs.

pub mod cli;
pub mod deliver;
#[cfg(feature = "all")]
pub mod detector;
#[cfg(feature = "all")]
pub mod digits;
#[cfg(feature = "all")]
pub mod edges;
pub mod overlap;
#[cfg(feature = "all")]
pub mod png_io;
#[cfg(feature = "all")]
pub mod progress;
#[cfg(feature = "all")]
pub mod radar;
/// Makes `cargo test` compile the programs of the README.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
pub mod readme {}
pub mod report;
pub mod seed_app;
pub mod seed_graph;
#[cfg(feature = "all")]
pub mod stream_semantics;
pub mod temporal;
