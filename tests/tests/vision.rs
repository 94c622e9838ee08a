//! Tests of the image operators.
#![allow(missing_docs, reason = "a test binary")]

#[path = "vision/components.rs"]
mod components;
#[path = "vision/data.rs"]
mod data;
#[path = "vision/formats.rs"]
mod formats;
#[path = "vision/geometry.rs"]
mod geometry;
#[path = "vision/histogram.rs"]
mod histogram;
#[path = "vision/overlay.rs"]
mod overlay;
#[path = "vision/overlay_device.rs"]
mod overlay_device;
#[path = "vision/suppression.rs"]
mod suppression;
#[path = "vision/tensors.rs"]
mod tensors;

use std::process::ExitCode;

use streamflow_tests::{Binary, Suite, kernels_without_warnings};

fn main() -> ExitCode {
    Binary::new()
        .suite("formats", formats::suite)
        .suite("geometry", geometry::suite)
        .suite("tensors", tensors::suite)
        .suite("histogram", histogram::suite)
        .suite("suppression", suppression::suite)
        .suite("components", components::suite)
        .suite("overlay", overlay::suite)
        .suite("overlay_device", overlay_device::suite)
        .suite("kernels", kernels)
        .run()
}

/// The kernels of this binary: each one body, with the types of the tests, and each with two.
fn kernels() -> Suite {
    Suite::new().optional(
        "no_kernel_has_a_warning_of_the_compiler",
        "STREAMFLOW_REQUIRE_NVRTC",
        kernels_without_warnings,
    )
}
