//! What streamflow's two example programs share.
//!
//! The workloads are library modules with plain-Rust references beside them, so that the tests and
//! the benchmarks run exactly what the programs run.

pub mod png_io;
pub mod progress;
pub mod report;
