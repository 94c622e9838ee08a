//! Tests of memory, streams and the functions of libraries, most of them without a graph.
#![allow(missing_docs, reason = "a test binary")]

mod allocators;
mod both_ways;
mod cudarc_memory;
mod elements;
mod external_streams;
mod foreign_memory;
mod foreign_rows;
mod foreign_streams;
mod fused;
mod green_contexts;
mod grid_coverage;
mod host_arrays;
mod host_memory;
mod kernel_images;
mod library;
mod long_tensors;
mod map_types;
mod maps;
mod one_body;
mod reductions;
mod scans;
mod signals;
mod stencils;
mod stream_pools;
mod tables;
mod timing;
mod view_copies;
mod views;

use std::process::ExitCode;

use streamflow_tests::Binary;

fn main() -> ExitCode {
    // The suites with the longest tests come first, so that no core waits for the last test.
    Binary::new()
        .suite("library", library::suite)
        .suite("allocators", allocators::suite)
        .suite("cudarc_memory", cudarc_memory::suite)
        .suite("elements", elements::suite)
        .suite("external_streams", external_streams::suite)
        .suite("foreign_memory", foreign_memory::suite)
        .suite("foreign_rows", foreign_rows::suite)
        .suite("foreign_streams", foreign_streams::suite)
        .suite("green_contexts", green_contexts::suite)
        .suite("grid_coverage", grid_coverage::suite)
        .suite("host_arrays", host_arrays::suite)
        .suite("host_memory", host_memory::suite)
        .suite("stream_pools", stream_pools::suite)
        .suite("timing", timing::suite)
        .suite("view_copies", view_copies::suite)
        .suite("kernel_images", kernel_images::suite)
        .suite("maps", maps::suite)
        .suite("long_tensors", long_tensors::suite)
        .suite("map_types", map_types::suite)
        .suite("tables", tables::suite)
        .suite("both_ways", both_ways::suite)
        .suite("fused", fused::suite)
        .suite("one_body", one_body::suite)
        .suite("reductions", reductions::suite)
        .suite("scans", scans::suite)
        .suite("signals", signals::suite)
        .suite("stencils", stencils::suite)
        .suite("views", views::suite)
        .run()
}
