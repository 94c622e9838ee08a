//! Calls of libraries fail, and the hook drops their errors: no data is lost silently. `graph_failures/unwritten.rs` does the
//! same with launches and copies.
//!
//! Tables have each function that writes memory of its caller. Each call that such a function makes of the driver fails in
//! turn, once with a target that is new and once with one that an earlier call has written.

mod attempts;
mod products;
mod solvers;
mod transforms;

use std::sync::Arc;

use streamflow::Element;
use streamflow::library::MAX_CLAIMS;
use streamflow::prelude::*;
use streamflow::testing::OperatorHarness;
use streamflow_math::Plan;
use streamflow_math::fft::{Fft, InverseRealFft, Layout, RealFft};
use streamflow_math::matmul::{Blas, Matmul};
use streamflow_math::solve::{Checked, Lu};
use streamflow_tests::foreign::CopyLibrary;
use streamflow_tests::layers::{CallKind, FailNth};
use streamflow_tests::{Failed, Suite, check, check_equal, check_error, check_text, cudss};

use super::in_tick::in_tick;
use attempts::{Function, Make, N, Sends};

pub(crate) fn add(suite: Suite) -> Suite {
    cudss::needed(suite, |suite| {
        suite.both("the_target_of_a_failed_direct_solution_is_not_sent", |platform| {
            sent(platform, &[products::DIRECT])
        })
    })
    .both("the_target_of_a_failed_library_call_is_not_sent", |platform| {
        sent(platform, &[transforms::FUNCTIONS, products::FUNCTIONS, solvers::FUNCTIONS])
    })
    .both("a_library_call_refuses_operands_that_are_not_written", operands)
    .both("what_a_call_with_too_many_claims_was_to_write_is_not_written", beyond)
    .both("a_result_whose_solver_has_failed_is_not_opened", opened)
    .both("a_library_call_whose_error_is_returned_marks_nothing", returned)
    .both("a_product_that_succeeds_ends_the_mark_of_an_earlier_tick", later)
    .both("a_product_that_fails_in_the_driver_ends_no_mark_of_an_earlier_tick", earlier)
}

/// Checks that the tick fails at `emit`, whichever call of the driver has failed. If the same library call is
/// made again, the tick fails only if that call needs the earlier content of its target.
fn sent(platform: &Platform, all: &[&'static [Function]]) -> Result<(), Failed> {
    all.iter().copied().flatten().try_for_each(|function| (function.run)(function, platform))
}

/// Returns a platform whose uploads fail when the returned layer is told so.
fn failing(platform: &Platform) -> Result<(Platform, Arc<FailNth>), Failed> {
    let driver = platform.driver().clone();
    let fails = Arc::new(FailNth::new(driver, CallKind::Copy, u64::MAX));
    Ok((Platform::builder().driver(fails.clone())?, fails))
}

fn is_unwritten(done: Result<(), Error>) -> Result<(), Failed> {
    check_error("memory", done, |error| matches!(error, Error::Unwritten { .. })).map(drop)
}

/// Checks a call that reads an unwritten operand, or leaves an unwritten part of its target as it is. The call's
/// target then counts as unwritten.
fn operands(platform: &Platform) -> Result<(), Failed> {
    let (platform, fails) = failing(platform)?;
    in_tick(&platform, move |cx, s, _| {
        fn lost<T: Element>(
            (cx, s): (&ExecutionContext, &Stream<'_>),
            fails: &FailNth,
            shape: &[usize],
        ) -> Result<Tensor<T>> {
            let mut memory = cx.tensor(shape, s)?;
            let source = vec![T::default(); memory.len()];
            fails.fail_next();
            drop(s.upload_blocking(&source, &mut memory));
            Ok(memory)
        }
        let at = (cx, s);

        let mut inverse = InverseRealFft::<f32>::plan(N).on(cx, s)?;
        let (mut x, mut y) = (lost(at, &fails, &[N / 2 + 1])?, cx.tensor([N], s)?);
        is_unwritten(inverse.inverse(s, &mut x, &mut y))?;
        is_unwritten(s.download_blocking(&y).map(drop))?;

        let mut forward = RealFft::<f32>::plan(N).on(cx, s)?;
        let (x, mut y) = (lost(at, &fails, &[N])?, cx.tensor([N / 2 + 1], s)?);
        is_unwritten(forward.forward(s, &x, &mut y))?;
        is_unwritten(s.download_blocking(&y).map(drop))?;

        let mut solver = Lu::<f32>::plan(N).on(cx, s)?;
        let (a, b) = (lost(at, &fails, &[N, N])?, cx.upload(&[1.0; N])?);
        let mut x = Checked::new(cx.tensor([N], s)?, cx, s)?;
        is_unwritten(solver.solve(s, &a, &b, &mut x))?;
        is_unwritten(x.download(s).map(drop))?;

        // The product writes only a part of `c`, and every second element of `y`.
        let plan = Matmul::<f32>::plan(2, 3, 1).leading_dimensions([1, 3, 5]);
        let mut plan = plan.on(cx, s)?;
        let (a, b) =
            (cx.upload(&[1.0; 2])?.reshape([2, 1])?, cx.upload(&[2.0; 3])?.reshape([1, 3])?);
        let mut c = lost(at, &fails, &[2, 5])?;
        let mut part = c.view_mut().slice(1, 0..3).ok_or_else(|| Failure::msg("no part"))?;
        is_unwritten(plan.execute(s, &a, &b, &mut part))?;

        let each_second = Layout::embedded([N]).stride(2);
        let mut spread = Fft::<f32>::plan(N).output(each_second).on(cx, s)?;
        let (x, mut y) = (cx.tensor([N], s)?, lost(at, &fails, &[2 * N])?);
        is_unwritten(spread.forward(s, &x, &mut y))
    })
}

/// Checks a call that is refused and whose error is dropped. None of its targets counts as written, including
/// those beyond the number of claims that a call has room for.
fn beyond(platform: &Platform) -> Result<(), Failed> {
    let library = CopyLibrary::new(platform)?;
    in_tick(platform, move |cx, s, _| {
        let all = (0..MAX_CLAIMS + 3).map(|_| cx.upload(&[1.0; N]));
        let mut all = all.collect::<Result<Vec<Tensor<f32>>, Error>>()?;
        let refused = library.write_too_much(s, &mut all);
        check_text(&check_error("the call", refused, |_| true)?, &["at most 12 claims"])?;
        all.iter().try_for_each(|data| is_unwritten(s.download_blocking(data).map(drop)))
    })
}

/// Checks a kept result for which the next call fails. The result from before must not be taken for that call's
/// result.
fn opened(platform: &Platform) -> Result<(), Failed> {
    in_tick(platform, |cx, s, _| {
        let mut solver = Lu::<f32>::plan(1).on(cx, s)?;
        let (a, b) = (cx.upload(&[2.0])?.reshape([1, 1])?, cx.upload(&[6.0])?);
        let wrong = cx.upload(&[6.0; 2])?;
        let mut kept = Checked::new(cx.tensor([1], s)?, cx, s)?;
        for _ in 0..2 {
            solver.solve(s, &a, &b, &mut kept)?;
            check_equal(kept.download(s)?.wait_blocking()?, &[3.0])?;
            drop(solver.solve(s, &a, &wrong, &mut kept));
            is_unwritten(kept.download(s).map(drop))?;
            is_unwritten(s.download_blocking(kept.on_device()).map(drop))?;
            is_unwritten(s.download_blocking(&kept.statuses()).map(drop))?;
        }
        let then = kept.then(Ok)?;
        is_unwritten(then.download(s).map(drop))?;
        is_unwritten(then.open_blocking(s).map(drop))
    })
}

/// Checks that the call of tick 1 fails, and that the sum then is as before.
fn returned(platform: &Platform) -> Result<(), Failed> {
    let mut kept = None;
    let make: Make<Tensor<f32>> = Box::new(move |cx, s, other| {
        let (plan, one, sum) = match &mut kept {
            Some(kept) => kept,
            none => {
                let (one, sum) = (cx.upload(&[1.0; N])?, cx.upload(&[0.0; N])?);
                none.insert((Blas::<f32>::on(cx, s)?, one, sum))
            }
        };
        let plan: &mut Plan<Blas<f32>> = plan;
        plan.axpy(if cx.tick() == 1 { other } else { s }, 1.0, one, sum)?;
        let mut sent = cx.tensor([N], s)?;
        s.copy(sum, &mut sent)?;
        Ok(sent)
    });
    let mut harness = OperatorHarness::new(platform, Sends::new(make))?;
    for wanted in [Some(1.0), None, Some(2.0)] {
        let done = harness.tick();
        check_equal(done.is_ok(), wanted.is_some())?;
        if let (Some(wanted), Some(sum)) = (wanted, harness.take(|ports| &mut ports.target)) {
            check_equal(harness.stream().download_blocking(&sum.message)?, vec![wanted; N])?;
        }
    }
    Ok(harness.stop()?)
}

/// A plan of a product, the factor 2, and the product's target.
type Square = (Plan<Matmul<f32>>, Tensor<f32>, Tensor<f32>);

/// Returns the product that is kept from tick to tick. The first tick makes it.
fn square<'k>(
    kept: &'k mut Option<Square>,
    cx: &ExecutionContext,
    s: &Stream<'_>,
) -> Result<&'k mut Square> {
    match kept {
        Some(kept) => Ok(kept),
        none => {
            let plan = Matmul::plan(1, 1, 1).on(cx, s)?;
            let factor = cx.upload(&[2.0])?.reshape([1, 1])?;
            Ok(none.insert((plan, factor, cx.tensor([1, 1], s)?)))
        }
    }
}

/// Checks three products of one target: the first fails and its error is dropped, the second writes the same
/// memory, and the third fails and its error is returned. The memory then has the second product.
fn later(platform: &Platform) -> Result<(), Failed> {
    let mut kept = None;
    let make: Make<Tensor<f32>> = Box::new(move |cx, s, other| {
        let (plan, a, c) = square(&mut kept, cx, s)?;
        let mut sent = cx.tensor([1, 1], s)?;
        match cx.tick() {
            0 => drop(plan.execute(other, &*a, &*a, c)),
            1 => plan.execute(s, &*a, &*a, c)?,
            2 => plan.execute(other, &*a, &*a, c)?,
            _ => s.copy(&*c, &mut sent)?,
        }
        Ok(sent)
    });
    let mut harness = OperatorHarness::new(platform, Sends::new(make))?;
    let mut sent = None;
    for succeeds in [true, true, false, true] {
        let done = harness.tick();
        check(done.is_ok() == succeeds, || format!("not {succeeds}: {done:?}"))?;
        sent = harness.take(|ports| &mut ports.target);
    }
    let sent = sent.ok_or_else(|| Failed::msg("nothing was sent"))?;
    check_equal(harness.stream().download_blocking(&sent.message)?, vec![4.0])?;
    Ok(harness.stop()?)
}

/// Checks two products that the driver refuses. The error of the first is dropped and that of the second is
/// returned, so the memory is not written. A product that its plan refuses would not show this, since it does not
/// begin to overwrite its target.
fn earlier(platform: &Platform) -> Result<(), Failed> {
    let library = FailNth::new(platform.driver().clone(), CallKind::CallLibrary, u64::MAX);
    let library = Arc::new(library);
    let launches = Arc::new(FailNth::new(library.clone(), CallKind::Launch, u64::MAX));
    let platform = Platform::builder().driver(launches.clone())?;
    let mut kept = None;
    let make: Make<Tensor<f32>> = Box::new(move |cx, s, _| {
        let (plan, a, c) = square(&mut kept, cx, s)?;
        let mut sent = cx.tensor([1, 1], s)?;
        if cx.tick() == 2 {
            s.copy(&*c, &mut sent)?;
            return Ok(sent);
        }
        let layers = [&library, &launches];
        layers.iter().for_each(|layer| layer.fail_nth(0));
        let done = plan.execute(s, &*a, &*a, c);
        layers.iter().for_each(|layer| layer.fail_nth(u64::MAX));
        match done {
            Ok(()) => Err(Failure::msg("the driver has taken the product")),
            Err(_) if cx.tick() == 0 => Ok(sent),
            Err(error) => Err(error.into()),
        }
    });
    let mut harness = OperatorHarness::new(&platform, Sends::new(make))?;
    check_equal(harness.tick()?, true)?;
    let refused = check_error("the second tick", harness.tick(), |_| true)?;
    check_text(&refused, &["injected"])?;
    let unwritten = check_error("the third tick", harness.tick(), |_| true)?;
    check_text(&unwritten, &["was to write is not written"])?;
    Ok(harness.stop()?)
}
