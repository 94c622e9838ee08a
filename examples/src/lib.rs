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

use streamflow::kernel::{Kernel, KernelInfo};

/// Every kernel of the examples, for tools that compile them all.
pub fn kernels() -> Vec<&'static KernelInfo> {
    vec![
        seed_app::exp_linspace::INFO,
        seed_app::multiply_sum_rows::INFO,
        edges::grey::INFO,
        edges::blur_rows::INFO,
        edges::blur_columns::INFO,
        edges::sobel_x::INFO,
        edges::sobel_y::INFO,
        edges::magnitude::INFO,
        overlap::climb::INFO,
        radar::listen::INFO,
        radar::compress::INFO,
        radar::average::INFO,
        radar::cfar::INFO,
        stream_semantics::join::INFO,
        stream_semantics::scale::INFO,
        temporal::pattern::INFO,
        temporal::share::INFO,
        temporal::accumulate::INFO,
        temporal::fade::INFO,
    ]
}
