//! Checks that each number that a plan gets has a range, and that a number outside of it is an error at once, in
//! every build.

use std::fmt::Debug;

use streamflow::prelude::*;
use streamflow_math::fft::{Fft, InverseRealFft, Layout, RealFft};
use streamflow_math::matmul::Matmul;
use streamflow_math::solve::{Checked, Cholesky, Eigen, Lu, Qr, Svd};
use streamflow_math::sparse::{Csr, SpMm};
use streamflow_tests::{Failed, Suite, check, check_text};

use crate::library::in_tick::{in_tick, text};

pub(super) fn add(suite: Suite) -> Suite {
    suite
        .both("a_size_outside_of_its_range_is_refused", refused)
        .both("a_plan_that_the_device_has_no_room_for_is_an_error", no_room)
        .host("the_simulator_names_the_longest_line_that_it_transforms", lines)
}

/// Numbers at the edges of 32 and 64 bits.
const LARGE: [usize; 6] = [1 << 31, 1 << 32, 1 << 62, (1 << 63) - 1, 1 << 63, usize::MAX];

/// Checks that a call returns an error about a size, and that the error names the call.
fn names<T: Debug>(call: &str, done: Result<T, Error>) -> Result<()> {
    check_text(&text(done)?, &[call])
}

fn refused(platform: &Platform) -> Result<(), Failed> {
    in_tick(platform, |cx, stream, _| {
        let a = Csr::upload(cx, [2, 2], &[0, 1, 2], &[0, 1], &[1.0_f32, 2.0])?;
        for large in LARGE {
            let value = cx.tensor::<f32>([1], stream)?;
            let found = text(Checked::of_batch(large, value, cx, stream))?;
            check_text(
                &found,
                &["`solve::Checked`: `count` is", &large.to_string(), "2147483647"],
            )?;
            names("`solve::Lu`", Lu::<f32>::plan(large).on(cx, stream))?;
            names("`solve::Lu`", Lu::<f64>::plan(1).batch(large).on(cx, stream))?;
            names("`solve::Lu`", Lu::<f64>::plan(1).right_hand_sides(large).on(cx, stream))?;
            names("`solve::Cholesky`", Cholesky::<f32>::plan(large).on(cx, stream))?;
            names("`solve::Cholesky`", Cholesky::<f32>::plan(2).batch(large).on(cx, stream))?;
            names("`solve::Qr`", Qr::<f32>::plan(large, 1).on(cx, stream))?;
            names("`solve::Svd`", Svd::<f32>::plan(large, 1).on(cx, stream))?;
            names("`solve::Svd`", Svd::<f32>::plan(0, large).on(cx, stream))?;
            names("`solve::Svd`", Svd::<f32>::plan(1, 1).batch(large).on(cx, stream))?;
            names("`solve::Eigen`", Eigen::<f32>::plan(large).on(cx, stream))?;
            names("`solve::Eigen`", Eigen::<f32>::plan(1).batch(large).on(cx, stream))?;
            for [m, n, k] in [[large, 1, 1], [1, large, 1], [1, 1, large]] {
                names("`Matmul`", Matmul::<f32>::plan(m, n, k).on(cx, stream))?;
                names("`Matmul`", Matmul::<f32>::plan(m, n, k).search_blocking(cx, stream, 1))?;
            }
            let plan = Matmul::<f32>::plan(2, 2, 2);
            names("`Matmul`", plan.batch(large).on(cx, stream))?;
            names("`Matmul`", plan.leading_dimensions([large, 2, 2]).on(cx, stream))?;
            let far = plan.batch(1 << 20).batch_strides([large, 4, 4]);
            if large > 1 << 40 {
                names("`Matmul`", far.on(cx, stream))?;
                names("sparse::SpMm", SpMm::plan(&a, large).on(cx, stream))?;
                names("`fft::Fft`", Fft::<f32>::plan(4).batch(large).on(cx, stream))?;
                names("`fft::RealFft`", RealFft::<f32>::plan(4).batch(large).on(cx, stream))?;
                let inverse = InverseRealFft::<f64>::plan(4).in_place().batch(large);
                names("`fft::InverseRealFft`", inverse.on(cx, stream))?;
                for layout in [
                    Layout::embedded([large]).stride(8),
                    Layout::embedded([4]).stride(large),
                    Layout::embedded([4]).distance(large),
                ] {
                    let plan = Fft::<f64>::plan(4).batch(3);
                    names("`fft::Fft`", plan.clone().input(layout).on(cx, stream))?;
                    names("`fft::Fft`", plan.output(layout).on(cx, stream))?;
                }
            }
            names("`Matmul`", plan.search_blocking(cx, stream, large))?;
        }
        names("`most` is 0", Matmul::<f32>::plan(2, 2, 2).search_blocking(cx, stream, 0))?;
        Ok(())
    })
}

/// Tries sizes within the libraries' ranges that need more memory than any device has. On a GPU the library
/// itself may refuse them.
fn no_room(platform: &Platform) -> Result<(), Failed> {
    let is_cuda = platform.name() == "cuda";
    in_tick(platform, move |cx, stream, _| {
        let most = (1 << 31) - 1;
        let memory = |done: Result<(), Error>| -> Result<()> {
            let found = text(done)?;
            let by_library = ["of cuSOLVER failed", "of cuBLAS failed", "of cuFFT failed"];
            let is_refused = is_cuda && by_library.iter().any(|it| found.contains(it));
            check(found.contains("memory") || is_refused, || found)
        };
        memory(Lu::<f64>::plan(1 << 20).on(cx, stream).map(drop))?;
        memory(Cholesky::<f64>::plan(1 << 20).on(cx, stream).map(drop))?;
        memory(Lu::<f64>::plan(64).batch(most).on(cx, stream).map(drop))?;
        memory(Cholesky::<f64>::plan(64).batch(most).on(cx, stream).map(drop))?;
        memory(Svd::<f64>::plan(32, 32).batch(most).on(cx, stream).map(drop))?;
        memory(Fft::<f64>::plan([1 << 20, 1 << 20]).on(cx, stream).map(drop))?;
        memory(Fft::<f32>::plan(1 << 10).batch(1 << 40).on(cx, stream).map(drop))?;
        Ok(())
    })
}

fn lines(platform: &Platform) -> Result<(), Failed> {
    in_tick(platform, |cx, stream, _| {
        for line in [(1 << 24) + 1, 1 << 28] {
            let found = text(Fft::<f32>::plan(line).on(cx, stream))?;
            let parts = ["`fft::Fft`: `shape` has", &line.to_string(), "at most 16777216; divide"];
            check_text(&found, &parts)?;
        }
        let real = text(RealFft::<f32>::plan([2, 1 << 28]).on(cx, stream))?;
        check_text(&real, &["`fft::RealFft`: `shape` has 268435456 elements in a dimension"])
    })
}
