//! The code of streamflow's example programs.
//!
//! The pipelines are library modules with plain-Rust references, so that the tests and the benchmarks run the same code
//! as the programs.

pub mod cli;
pub mod deliver;
pub mod digits;
pub mod edges;
pub mod overlap;
pub mod png_io;
pub mod progress;
pub mod radar;
pub mod report;
pub mod seed_app;
pub mod seed_graph;
pub mod stream_semantics;
pub mod temporal;
