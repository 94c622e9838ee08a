//! Errors that a solver finds on the device. They are returned where the host opens the result.

use std::sync::Arc;

use streamflow::prelude::*;
use streamflow_math::Error as MathError;
use streamflow_math::solve::{self, Checked, CheckedDownload, Cholesky, Lu};
use streamflow_tests::kernels::add_one;
use streamflow_tests::layers::{CallKind, FailNth};
use streamflow_tests::{Failed, Suite, check, check_error, check_text};

use super::in_tick::{in_tick, is_unsolvable, text};
use super::matrices::{definite, upload};

pub(crate) fn add(suite: Suite) -> Suite {
    suite
        .both("a_singular_matrix_is_named_with_its_row_where_the_result_is_opened", singular)
        .both("a_matrix_that_is_not_positive_definite_is_named_with_its_row", not_definite)
        .both("a_nan_is_an_error_and_never_a_result", nan)
        .both("what_is_computed_of_a_checked_result_has_its_check", then)
        .both("a_checked_result_passes_through_a_graph", through_a_graph)
        .both("a_result_that_was_not_computed_is_an_error", not_computed)
        .both("a_plan_whose_matrix_could_not_be_factored_does_not_solve", not_factored)
}

/// A singular matrix: row 2 is the sum of the two rows before.
const SINGULAR: [f64; 16] =
    [1.0, 0.0, 2.0, 0.0, 0.0, 1.0, 4.0, 0.0, 1.0, 1.0, 6.0, 0.0, 5.0, 6.0, 7.0, 8.0];

fn is_singular(error: &Error) -> bool {
    matches!(
        error.find_cause(),
        Some(MathError::Unsolvable { call: "solve::Lu", matrix: None, row: Some(2), .. })
    )
}

fn singular(platform: &Platform) -> Result<(), Failed> {
    in_tick(platform, |cx, stream, _| {
        let (a, b) = (upload(cx, &SINGULAR, &[4, 4])?, cx.upload(&[1.0; 4])?);
        let mut plan = Lu::plan(4).on(cx, stream)?;
        let mut x = Checked::new(cx.tensor([4], stream)?, cx, stream)?;
        // The calls succeed, since the host does not know the status yet.
        plan.solve(stream, &a, &b, &mut x)?;
        let download = x.download(stream)?;
        let waited = check_error("wait_blocking", download.wait_blocking(), is_singular)?;
        check_text(
            &waited,
            &[
                "`solve::Lu`: the matrix is singular: row 2, counted from 0, is a combination of the rows before it",
                "remove rows",
            ],
        )?;
        check_error("try_get", download.try_get(), is_singular)?;
        check_error("open_blocking", x.open_blocking(stream), is_singular)?;

        let mut kept = plan.factor(stream, &a)?;
        let mut x = Checked::new(cx.tensor([4], stream)?, cx, stream)?;
        kept.solve(stream, &b, &mut x)?;
        check_error("a kept matrix", x.download(stream)?.wait_blocking(), is_singular)?;
        // The plan works again with a matrix that is not singular.
        let mut good = SINGULAR;
        good[10] = 7.0;
        kept.refactor(stream, &upload(cx, &good, &[4, 4])?)?;
        kept.solve(stream, &b, &mut x)?;
        x.download(stream)?.wait_blocking()?;
        x.open_blocking(stream)?;

        let host = solve::solve_host_blocking(cx, 4, &SINGULAR, &[1.0; 4]);
        check_error("on the host", host, is_singular)?;
        let zero = solve::solve_host_blocking(cx, 1, &[0.0_f32], &[1.0]);
        check_text(&text(zero)?, &["row 0, counted from 0"])?;
        Ok(())
    })
}

fn not_definite(platform: &Platform) -> Result<(), Failed> {
    in_tick(platform, |cx, stream, _| {
        let mut a = definite::<f32>(5, 1);
        a[3 * 5 + 3] = -1.0;
        let mut plan = Cholesky::plan(5).on(cx, stream)?;
        let mut l = Checked::new(upload(cx, &a, &[5, 5])?, cx, stream)?;
        plan.factor_in_place(stream, &mut l)?;
        let found = text(l.download(stream)?.wait_blocking())?;
        let wanted =
            "`solve::Cholesky`: the matrix is not positive definite: with row 3, counted from 0";
        check_text(&found, &[wanted, "or use `Lu`"])?;
        let b = cx.upload(&[1.0_f32; 5])?;
        let x = solve::solve_positive_definite(cx, stream, &upload(cx, &a, &[5, 5])?, &b)?;
        check_text(&text(x.download(stream)?.wait_blocking())?, &[wanted])?;

        let batch = [definite::<f32>(5, 2), a, definite::<f32>(5, 3)].concat();
        let batch = upload(cx, &batch, &[3, 5, 5])?;
        let b = upload(cx, &[1.0; 15], &[3, 5])?;
        let x = solve::solve_positive_definite(cx, stream, &batch, &b)?;
        let is_second = |error: &Error| {
            matches!(
                error.find_cause(),
                Some(MathError::Unsolvable { matrix: Some(1), row: Some(3), .. })
            )
        };
        let found = check_error("a batch", x.open_blocking(stream), is_second)?;
        check_text(&found, &["`solve::Cholesky`, matrix 1 of the batch: the matrix is not"])?;
        Ok(())
    })
}

fn is_nan(error: &Error) -> bool {
    matches!(error, Error::Driver(_)) || is_unsolvable(error)
}

fn nan(platform: &Platform) -> Result<(), Failed> {
    in_tick(platform, |cx, stream, _| {
        let b = cx.upload(&[1.0_f64; 5])?;
        let good = definite::<f64>(5, 1);
        let mut bad = good.clone();
        (bad[2 * 5 + 1], bad[4 * 5]) = (f64::NAN, f64::NAN);
        let a = upload(cx, &bad, &[5, 5])?;
        let x = solve::solve(cx, stream, &a, &b)?.download(stream)?;
        check_text(&text(x.wait_blocking())?, &["`solve::Lu`: the matrix has a NaN in row 2,"])?;
        let x = solve::solve_positive_definite(cx, stream, &a, &b)?.open_blocking(stream);
        check_text(&text(x)?, &["`solve::Cholesky`: the matrix has a NaN in row 2,"])?;
        let two = upload(cx, &[good.clone(), bad].concat(), &[2, 5, 5])?;
        let x =
            solve::solve_positive_definite(cx, stream, &two, &upload(cx, &[1.0; 10], &[2, 5])?)?;
        let found = text(x.open_blocking(stream))?;
        check_text(&found, &["matrix 1 of the batch: the matrix has a NaN in row 2"])?;
        check_error(
            "in place",
            solve::cholesky(cx, stream, &a)?.download(stream)?.wait_blocking(),
            is_nan,
        )?;

        let good = upload(cx, &good, &[5, 5])?;
        let b = cx.upload(&[1.0, f64::NAN, 1.0, 1.0, 1.0])?;
        let x = solve::solve(cx, stream, &good, &b)?.download(stream)?;
        check_text(&text(x.wait_blocking())?, &["of the result is a NaN", "right-hand side"])?;

        // The library may find the error during the call or at the status.
        let eigen = || -> Result<Vec<f64>, Error> {
            let found = solve::eigen_blocking(cx, stream, &a)?;
            Ok(found.download_of(|it| &it.values, stream)?.wait_blocking()?.to_vec())
        };
        check_error("eigenvalues", eigen(), is_nan)?;
        let svd = || -> Result<Vec<f64>, Error> {
            let found = solve::svd_blocking(cx, stream, &a)?;
            Ok(found.download_of(|it| &it.s, stream)?.wait_blocking()?.to_vec())
        };
        check_error("singular values", svd(), is_nan)?;
        let qr = || -> Result<Vec<f64>, Error> {
            let found = solve::qr(cx, stream, &a)?;
            Ok(found.download_of(|it| &it.q, stream)?.wait_blocking()?.to_vec())
        };
        check_error("QR", qr(), is_nan)?;
        Ok(())
    })
}

fn then(platform: &Platform) -> Result<(), Failed> {
    in_tick(platform, |cx, stream, other| {
        for (value, is_good) in [(2.0, true), (0.0, false)] {
            let (a, b) = (upload(cx, &[value], &[1, 1])?, cx.upload(&[6.0_f32])?);
            let x = solve::solve(cx, stream, &a, &b)?;
            // Work on another stream continues with the unopened result, and the host does not wait.
            let more = x.then(|mut x| {
                other.launch::<add_one>(1, (&mut x,))?;
                Ok(x)
            })?;
            let download = more.download(other)?;
            match download.wait_blocking() {
                Ok(found) => check(is_good && found == [4.0], || format!("{found:?}"))?,
                Err(error) => check(!is_good, || error.to_string())?,
            }
        }
        Ok(())
    })
}

/// An operator that solves a system in each tick. In tick 1 the matrix is singular.
#[operator]
struct Solves {
    #[output]
    x: Checked<Tensor<f32>>,
    bad: u64,
}

impl Compute for Solves {
    fn compute(&mut self, io: SolvesIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.internal_stream()?;
        let value = if cx.tick() == self.bad { 0.0 } else { 2.0 };
        let (a, b) = (upload(cx, &[value], &[1, 1])?, cx.upload(&[6.0_f32])?);
        io.x.set_cuda_stream(&stream).emit(solve::solve(cx, &stream, &a, &b)?)
    }
}

/// An operator that adds one on the device, and sends the result to the host.
#[operator]
struct GoesOn {
    #[input]
    x: Checked<Tensor<f32>>,
    #[output]
    found: CheckedDownload<f32>,
}

impl Compute for GoesOn {
    fn compute(&mut self, io: GoesOnIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (x, stream) = io.x.receive().receive_cuda_stream(cx)?;
        let x = x.then(|mut x| {
            stream.launch::<add_one>(1, (&mut x,))?;
            Ok(x)
        })?;
        io.found.emit(x.download(&stream)?)
    }
}

/// An operator that opens the result on the host.
#[operator]
struct Reads {
    #[input]
    found: CheckedDownload<f32>,
}

impl Compute for Reads {
    fn compute(&mut self, io: ReadsIo<'_>, _: &ExecutionContext) -> Result<()> {
        let found = io.found.receive().into_data();
        let Some(found) = found.try_get()? else { return Err(Failure::msg("not complete")) };
        check(found == [4.0], || format!("{found:?}"))
    }
}

graph! {
    struct Pipeline(bad: u64) {
        const STREAMS: CudaStreamPool = CudaStreamPool::new().max_size(4);
        #[streams(STREAMS)] #[when(count(3))] let solves: Solves = Solves::new(bad);
        #[streams(STREAMS)] let goes_on: GoesOn = GoesOn::new();
        #[when(host_done(found))] let reads: Reads = Reads::new();
        solves.x >> goes_on.x;
        goes_on.found >> reads.found;
    }
}

fn through_a_graph(platform: &Platform) -> Result<(), Failed> {
    Pipeline::new(platform, 9)?.run()?;
    let found = text(Pipeline::new(platform, 1)?.run())?;
    check_text(
        &found,
        &[
            "operator `reads` failed in `compute`, tick 1: `solve::Lu`: the matrix is singular: row 0",
        ],
    )
}

fn not_computed(platform: &Platform) -> Result<(), Failed> {
    let failing =
        Arc::new(FailNth::new(platform.driver().clone(), CallKind::CallLibrary, u64::MAX));
    let platform = Platform::builder().driver(failing.clone())?;
    in_tick(&platform, move |cx, stream, _| {
        let x = Checked::new(cx.upload(&[1.0_f32])?, cx, stream)?;
        stream.fill_bytes(&mut cx.tensor::<f32>([1], stream)?, 0)?;
        check_text(&text(x.open_blocking(stream))?, &["no solver has computed anything into"])?;

        // After a call that has failed, the result can't be opened, whatever it held before.
        let (a, b) = (upload(cx, &[2.0], &[1, 1])?, cx.upload(&[6.0_f32])?);
        let mut plan = Lu::plan(1).on(cx, stream)?;
        let mut x = Checked::new(cx.tensor([1], stream)?, cx, stream)?;
        plan.solve(stream, &a, &b, &mut x)?;
        for nth in 0..2 {
            failing.fail_nth(nth);
            check_text(&text(plan.solve(stream, &a, &b, &mut x))?, &["call_library", "INJECTED"])?;
            check_text(&text(x.download(stream))?, &["is not written", "INJECTED"])?;
        }
        plan.solve(stream, &a, &b, &mut x)?;
        let found = x.download(stream)?.wait_blocking()?.to_vec();
        check(found == [3.0], || format!("{found:?}"))
    })
}

/// Checks a factorisation in which the library's call, or the call before that clears the statuses, fails. The
/// first matrix is singular, and its status must not be forgotten either.
fn not_factored(platform: &Platform) -> Result<(), Failed> {
    for kind in [CallKind::CallLibrary, CallKind::Launch] {
        let failing = Arc::new(FailNth::new(platform.driver().clone(), kind, u64::MAX));
        let platform = Platform::builder().driver(failing.clone())?;
        in_tick(&platform, move |cx, stream, other| {
            let first = upload(cx, &SINGULAR, &[4, 4])?;
            let mut good = SINGULAR;
            good[10] = 7.0;
            let (good, b) = (upload(cx, &good, &[4, 4])?, cx.upload(&[1.0; 4])?);
            let mut plan = Lu::plan(4).on(cx, stream)?.factor(stream, &first)?;
            let mut x = Checked::new(cx.tensor([4], stream)?, cx, stream)?;
            failing.fail_next();
            check_text(&text(plan.refactor(stream, &good))?, &["INJECTED"])?;
            let found = text(plan.solve(stream, &b, &mut x))?;
            let texts = ["`solve::Lu`: the plan has no factored matrix", "call `refactor` again"];
            check_text(&found, &texts)?;
            check_text(&text(x.download(stream))?, &["is not written", texts[0]])?;
            // A matrix of another shape is refused, and the factors of the matrix before are not used in its place.
            plan.refactor(stream, &good)?;
            let refused = [plan.refactor(stream, &b), plan.refactor(other, &good)];
            check(refused.iter().all(Result::is_err), || format!("{refused:?}"))?;
            let found = text(plan.solve(stream, &b, &mut x))?;
            check_text(&found, &["is not written", "`a` has shape [4]"])?;
            plan.refactor(stream, &good)?;
            plan.solve(stream, &b, &mut x)?;
            x.download(stream)?.wait_blocking()?;
            Ok(())
        })?;
    }
    Ok(())
}
