//! Checks that a report of the race checker names the user's line of each library call.

use std::sync::Arc;
use std::sync::mpsc::channel;

use streamflow::driver::Driver;
use streamflow::driver::host::HostDriver;
use streamflow::memory::{Complex, DeviceSlice};
use streamflow::prelude::*;
use streamflow_driver::driver::race::RaceChecker;
use streamflow_math::fft::{self, InverseRealFft, Norm, RealFft};
use streamflow_math::matmul::{self, Blas, Matmul};
use streamflow_math::random::Philox;
use streamflow_math::solve::{self, Checked, Cholesky, Eigen, Lu, Qr, Svd};
use streamflow_math::sparse::{self, Csr, SpMm, SpMv};
use streamflow_tests::foreign::launch_unordered;
use streamflow_tests::kernels::slow_copy;
use streamflow_tests::{Failed, Suite, check, check_error};

use super::in_tick::in_tick;

/// A callback that gets the line of a call, and the memory that the call has written.
type Written<'a> = &'a mut dyn FnMut(u32, &DeviceSlice<f32>) -> Result<()>;

/// A function that makes library calls on a stream.
type Calls = fn(&ExecutionContext, &Stream<'_>, Written<'_>) -> Result<()>;

const CALLS: &[(&str, Calls)] = &[
    ("transforms", transforms),
    ("products", products),
    ("vectors", vectors),
    ("sparse_products", sparse_products),
    ("systems", systems),
    ("decompositions", decompositions),
    ("random_numbers", random_numbers),
];

pub(crate) fn add(suite: Suite) -> Suite {
    CALLS.iter().fold(suite, |suite, &(name, calls)| {
        let name = format!("a_race_report_names_the_line_of_{name}");
        suite
            .plain(&format!("{name}::host"), move || {
                let host = || Arc::new(HostDriver::builder().seed(0).build());
                each_is_named(host(), calls)?;
                each_is_named(Arc::new(RaceChecker::new(host())), calls)
            })
            .cuda(&name, move |platform| each_is_named(platform.driver().clone(), calls))
    })
}

/// Reads what each call writes, without a wait, and looks for the call's line in the race checker's report.
fn each_is_named(driver: Arc<dyn Driver>, calls: Calls) -> Result<(), Failed> {
    // The driver may already have a race checker. Then this adds no second one, since only the upper checker would
    // get the lines.
    let platform = Platform::builder().race_check(true).driver(driver)?;
    let (tell, told) = channel();
    let run = in_tick(&platform, move |cx, work, other| {
        let looked = calls(cx, work, &mut |line, written| {
            let mut copy = cx.buffer(written.len(), other)?;
            launch_unordered::<slow_copy>(other, written.len(), (&mut copy, written, 0))?;
            work.synchronize_blocking()?;
            other.synchronize_blocking()?;
            let reports = cx.platform().driver().observer().take_races();
            let texts: Vec<_> = reports.races.iter().map(ToString::to_string).collect();
            let place = format!("lines.rs:{line}:");
            let is_named = texts.iter().any(|text| text.contains(&place));
            check(is_named, || format!("no {place} in {texts:?}"))
        });
        Ok(tell.send(looked.map_err(|failure| Failed::msg(failure.to_string())))?)
    });
    // The tick has races on purpose, which make its run fail.
    check_error("the run", run, |_| true)?;
    told.recv()?
}

fn transforms(cx: &ExecutionContext, stream: &Stream<'_>, written: Written<'_>) -> Result<()> {
    let (x, mut y) = (cx.upload(&[1.0_f32; 6])?, cx.tensor([6], stream)?);
    let mut spectrum = cx.tensor::<Complex<f32>>([4], stream)?;
    RealFft::plan(6).on(cx, stream)?.forward(stream, &x, &mut spectrum)?;
    let mut back = InverseRealFft::plan(6).on(cx, stream)?;
    back.inverse(stream, &mut spectrum, &mut y)?;
    written(line!() - 1, &y)?;
    let mut spectrum = fft::forward_real(cx, stream, &x)?;
    let y = fft::inverse_real(cx, stream, &mut spectrum, 6, Norm::ByLength)?;
    written(line!() - 1, &y)
}

fn products(cx: &ExecutionContext, stream: &Stream<'_>, written: Written<'_>) -> Result<()> {
    let (a, mut c) = (cx.upload(&[1.0_f32; 9])?.reshape([3, 3])?, cx.tensor([3, 3], stream)?);
    let mut plan = Matmul::<f32>::plan(3, 3, 3).on(cx, stream)?;
    plan.execute(stream, &a, &a, &mut c)?;
    written(line!() - 1, &c)?;
    let c = matmul::multiply(cx, stream, &a, &a)?;
    written(line!() - 1, &c)
}

fn vectors(cx: &ExecutionContext, stream: &Stream<'_>, written: Written<'_>) -> Result<()> {
    let (x, a) = (cx.upload(&[1.0_f32; 3])?, cx.upload(&[1.0_f32; 9])?.reshape([3, 3])?);
    let (mut y, mut one) = (cx.upload(&[2.0_f32; 3])?, cx.tensor([1], stream)?);
    let mut blas = Blas::<f32>::on(cx, stream)?;
    blas.axpy(stream, 2.0, &x, &mut y)?;
    written(line!() - 1, &y)?;
    blas.dot(stream, &x, &y, &mut one)?;
    written(line!() - 1, &one)?;
    blas.norm(stream, &x, &mut one)?;
    written(line!() - 1, &one)?;
    blas.gemv(stream, (1.0, &a, &x), (0.0, &mut y))?;
    written(line!() - 1, &y)
}

fn sparse_products(cx: &ExecutionContext, stream: &Stream<'_>, written: Written<'_>) -> Result<()> {
    let a = Csr::upload(cx, [2, 2], &[0, 1, 2], &[0, 1], &[1.0_f32, 2.0])?;
    let (x, b) = (cx.upload(&[1.0_f32; 2])?, cx.upload(&[1.0_f32; 4])?.reshape([2, 2])?);
    let (mut y, mut c) = (cx.tensor([2], stream)?, cx.tensor([2, 2], stream)?);
    let (mut spmv, mut spmm) = (SpMv::plan(&a).on(cx, stream)?, SpMm::plan(&a, 2).on(cx, stream)?);
    spmv.execute(stream, &a, &x, &mut y)?;
    written(line!() - 1, &y)?;
    spmm.execute(stream, &a, &b, &mut c)?;
    written(line!() - 1, &c)?;
    let y = sparse::spmv(cx, stream, &a, &x)?;
    written(line!() - 1, &y)?;
    let c = sparse::spmm(cx, stream, &a, &b)?;
    written(line!() - 1, &c)
}

fn systems(cx: &ExecutionContext, stream: &Stream<'_>, written: Written<'_>) -> Result<()> {
    let a = cx.upload(&[2.0_f32, 0.0, 0.0, 2.0])?.reshape([2, 2])?;
    let b = cx.upload(&[2.0_f32, 4.0])?;
    let mut x = Checked::new(cx.tensor([2], stream)?, cx, stream)?;
    let mut lu = Lu::plan(2).on(cx, stream)?;
    lu.solve(stream, &a, &b, &mut x)?;
    written(line!() - 1, x.on_device())?;
    let mut factored = lu.factor(stream, &a)?;
    factored.solve(stream, &b, &mut x)?;
    written(line!() - 1, x.on_device())?;
    let mut cholesky = Cholesky::plan(2).on(cx, stream)?;
    cholesky.solve(stream, &a, &b, &mut x)?;
    written(line!() - 1, x.on_device())?;
    let mut copy = cx.tensor([2, 2], stream)?;
    stream.copy(&a, &mut copy)?;
    let mut l = Checked::new(copy, cx, stream)?;
    cholesky.factor_in_place(stream, &mut l)?;
    written(line!() - 1, l.on_device())?;
    let x = solve::solve(cx, stream, &a, &b)?;
    written(line!() - 1, x.on_device())?;
    let x = solve::solve_positive_definite(cx, stream, &a, &b)?;
    written(line!() - 1, x.on_device())?;
    let l = solve::cholesky(cx, stream, &a)?;
    written(line!() - 1, l.on_device())
}

fn decompositions(cx: &ExecutionContext, stream: &Stream<'_>, written: Written<'_>) -> Result<()> {
    let a = cx.upload(&[2.0_f32, 0.0, 0.0, 2.0])?.reshape([2, 2])?;
    let mut qr = Qr::plan(2, 2).on(cx, stream)?;
    let mut out = qr.result(cx, stream)?;
    qr.execute(stream, &a, &mut out)?;
    written(line!() - 1, &out.on_device().r)?;
    let mut svd = Svd::plan(2, 2).on(cx, stream)?;
    let mut out = svd.result(cx, stream)?;
    svd.execute_blocking(stream, &a, &mut out)?;
    written(line!() - 1, &out.on_device().s)?;
    let mut eigen = Eigen::plan(2).on(cx, stream)?;
    let mut out = eigen.result(cx, stream)?;
    eigen.execute_blocking(stream, &a, &mut out)?;
    written(line!() - 1, &out.on_device().values)?;
    let out = solve::qr(cx, stream, &a)?;
    written(line!() - 1, &out.on_device().q)?;
    let out = solve::svd_blocking(cx, stream, &a)?;
    written(line!() - 1, &out.on_device().s)?;
    let out = solve::eigen_blocking(cx, stream, &a)?;
    written(line!() - 1, &out.on_device().values)
}

fn random_numbers(cx: &ExecutionContext, stream: &Stream<'_>, written: Written<'_>) -> Result<()> {
    let (mut random, mut out) = (Philox::<f32>::new(1), cx.tensor([4], stream)?);
    random.uniform(stream, &mut out)?;
    written(line!() - 1, &out)?;
    random.normal(stream, &mut out, 0.0, 1.0)?;
    written(line!() - 1, &out)
}
