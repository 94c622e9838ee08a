//! Checks that a product is ordered by its operands, its bias and its work area, as a launch is ordered by its
//! arguments.

use std::sync::Arc;

use streamflow::prelude::*;
use streamflow_driver::driver::Call;
use streamflow_math::Plan;
use streamflow_math::matmul::{Bias, Matmul};
use streamflow_tests::kernels::{add_one, slow_copy, slow_fill};
use streamflow_tests::ordered::Program;
use streamflow_tests::setup::recorded;
use streamflow_tests::{Failed, Suite, check, check_equal, check_text};

use super::hook::{once, tensor, ticks};

/// The length of a slow kernel in cycles. It takes about 10 ms on a GPU, much longer than a call of the host.
const SLOW: u64 = 20_000_000;
const N: usize = 32;

const PROGRAMS: &[(&str, Program)] = &[
    ("a_product_comes_after_the_write_of_a_factor", |platform| late(platform, 0)),
    ("a_product_comes_after_the_write_of_its_bias", |platform| late(platform, 1)),
    ("a_later_write_comes_after_the_product_that_reads", overwritten),
    ("a_later_read_comes_after_the_product_that_writes", read_later),
];

pub(super) fn add(suite: Suite) -> Suite {
    let suite = PROGRAMS.iter().fold(suite, |suite, &(name, program)| suite.ordered(name, program));
    suite
        .both("plans_of_one_operator_work_on_two_streams_for_many_ticks", two_streams)
        .both("a_product_needs_nothing_of_what_its_work_area_had", poisoned)
        .both("a_plan_may_be_dropped_while_its_work_runs", dropped)
        .both("a_product_is_one_call_with_its_claims", recorded_calls)
}

/// The operands of a product of `N` x `N` matrices full of ones, and a plan with a bias for the stream `work`.
/// All earlier work is complete.
struct Setting {
    a: Tensor<f32>,
    b: Tensor<f32>,
    bias: Tensor<f32>,
    c: Tensor<f32>,
    plan: Plan<Matmul<f32, Bias>>,
}

fn set(cx: &ExecutionContext, work: &Stream<'_>, other: &Stream<'_>) -> Result<Setting> {
    let ones = |shape: &[usize], count| tensor(cx, other, shape, &vec![1.0; count]);
    let (a, b, bias) = (ones(&[N, N], N * N)?, ones(&[N, N], N * N)?, ones(&[N], N)?);
    let mut c = ones(&[N, N], N * N)?;
    let mut plan = Matmul::<f32>::plan(N, N, N).bias().on(cx, work)?;
    // Loads the kernels and the library before anything depends on timing.
    let mut spare = cx.tensor([N, N], other)?;
    other.launch::<slow_fill>(N * N, (&mut spare, 0.0, 0))?;
    other.launch::<slow_copy>(N * N, (&mut c, &spare, 0))?;
    other.launch::<add_one>(N * N, (&mut c,))?;
    plan.execute(work, &a, &b, &bias, &mut spare)?;
    work.synchronize_blocking()?;
    other.synchronize_blocking()?;
    Ok(Setting { a, b, bias, c, plan })
}

/// Runs a program in a hook. Returns whether its data was right.
fn right(
    platform: &Platform,
    program: impl Fn(&ExecutionContext, &Stream<'_>, &Stream<'_>) -> Result<bool> + Send + 'static,
) -> Result<bool> {
    let is_right = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let found = is_right.clone();
    once(platform, move |cx, work, other| {
        found.store(program(cx, work, other)?, std::sync::atomic::Ordering::Relaxed);
        Ok(())
    })?;
    Ok(is_right.load(std::sync::atomic::Ordering::Relaxed))
}

fn all(found: &[f32], value: f32) -> bool {
    found.iter().all(|&found| found == value)
}

fn late(platform: &Platform, which: usize) -> Result<bool> {
    right(platform, move |cx, work, other| {
        let Setting { mut a, b, mut bias, mut c, mut plan } = set(cx, work, other)?;
        let (slow, wanted) = match which {
            0 => (&mut a, 2.0 * N as f32 + 1.0),
            _ => (&mut bias, N as f32 + 2.0),
        };
        other.launch::<slow_fill>(slow.len(), (slow, 2.0, SLOW))?;
        plan.execute(work, &a, &b, &bias, &mut c)?;
        Ok(all(&work.download_blocking(&c)?, wanted))
    })
}

fn overwritten(platform: &Platform) -> Result<bool> {
    right(platform, |cx, work, other| {
        let Setting { mut a, b, bias, mut c, mut plan } = set(cx, work, other)?;
        let mut before = cx.tensor([N, N], work)?;
        work.launch::<slow_fill>(N * N, (&mut before, 0.0, SLOW))?;
        plan.execute(work, &a, &b, &bias, &mut c)?;
        other.launch::<slow_fill>(N * N, (&mut a, 9.0, 0))?;
        other.synchronize_blocking()?;
        Ok(all(&work.download_blocking(&c)?, N as f32 + 1.0))
    })
}

fn read_later(platform: &Platform) -> Result<bool> {
    right(platform, |cx, work, other| {
        let Setting { mut a, b, bias, mut c, mut plan } = set(cx, work, other)?;
        work.launch::<slow_fill>(N * N, (&mut a, 2.0, SLOW))?;
        plan.execute(work, &a, &b, &bias, &mut c)?;
        other.launch::<add_one>(N * N, (&mut c,))?;
        Ok(all(&other.download_blocking(&c)?, 2.0 * N as f32 + 2.0))
    })
}

/// Checks two streams, each of which multiplies in each tick the result that the other stream has made in the
/// tick before.
fn two_streams(platform: &Platform) -> Result<(), Failed> {
    const TICKS: u64 = 12;
    let mut kept: Option<(Setting, Setting)> = None;
    let mut wanted = 1.0_f32;
    ticks(platform, TICKS, move |cx, work, other| {
        if kept.is_none() {
            kept = Some((set(cx, work, other)?, set(cx, other, work)?));
        }
        let Some((first, second)) = &mut kept else { return Err(Failure::msg("it was set")) };
        // The factor of 1 / N keeps the numbers small.
        first.plan.scale(work, 1.0 / N as f32, 0.0)?;
        second.plan.scale(other, 1.0 / N as f32, 0.0)?;
        work.launch::<slow_fill>(N, (&mut first.bias, 1.0, SLOW / 10))?;
        first.plan.execute(work, &second.c, &first.b, &first.bias, &mut first.c)?;
        second.plan.execute(other, &first.c, &second.b, &second.bias, &mut second.c)?;
        // The scaled product of equal numbers is their mean. Both streams add a bias of 1.
        wanted += 2.0;
        let found = other.download_blocking(&second.c)?;
        check(all(&found, wanted), || format!("tick {}: {}, not {wanted}", cx.tick(), found[0]))
    })
}

fn poisoned(platform: &Platform) -> Result<(), Failed> {
    // The library computes so few sums of so many terms in parts, which it stores in the work area.
    const K: usize = 4096;
    once(platform, |cx, work, _| {
        let a = tensor(cx, work, &[8, K], &vec![1.0; 8 * K])?;
        let b = tensor(cx, work, &[K, 8], &vec![1.0; 8 * K])?;
        let mut c = cx.tensor([8, 8], work)?;
        let mut plan = Matmul::<f32>::plan(8, 8, K).on(cx, work)?;
        for byte in [0xff, 0x7f, 0x00] {
            plan.poison_work_area(work, byte)?;
            plan.execute(work, &a, &b, &mut c)?;
            plan.poison_work_area(work, byte)?;
            check(all(&work.download_blocking(&c)?, K as f32), || format!("after {byte:#x}"))?;
        }
        Ok(())
    })
}

fn dropped(platform: &Platform) -> Result<(), Failed> {
    once(platform, |cx, work, other| {
        let Setting { a, b, mut bias, mut c, mut plan } = set(cx, work, other)?;
        work.launch::<slow_fill>(N, (&mut bias, 2.0, SLOW))?;
        plan.execute(work, &a, &b, &bias, &mut c)?;
        drop((plan, a, b, bias));
        // These tensors may get the memory of the dropped plan's work area.
        let filled = (0..8).map(|_| {
            let mut taken = cx.tensor([N, N], other)?;
            other.launch::<slow_fill>(N * N, (&mut taken, 77.0, 0))?;
            Ok(taken)
        });
        let taken: Vec<Tensor<f32>> = filled.collect::<Result<_>>()?;
        let found = work.download_blocking(&c)?;
        drop(taken);
        check(all(&found, N as f32 + 2.0), || format!("{}", found[0]))
    })
}

fn recorded_calls(platform: &Platform) -> Result<(), Failed> {
    let (recorder, platform) = recorded(platform.driver().clone())?;
    once(&platform, move |cx, work, other| {
        let Setting { a, b, bias, mut c, mut plan } = set(cx, work, other)?;
        plan.execute(work, &a, &b, &bias, &mut c)?;
        recorder.clear();
        for _ in 0..100 {
            plan.execute(work, &a, &b, &bias, &mut c)?;
        }
        let mut calls = recorder.calls();
        calls.retain(|call| !matches!(call, Call::Bind { .. }));
        check_equal(calls.len(), 100)?;
        let parts = [
            "call cublasLtMatmul on stream",
            ", reads a = ",
            ", reads b = ",
            ", writes c = ",
            ", reads bias = ",
            ", writes work area = ",
        ];
        calls.iter().try_for_each(|call| check_text(&call.to_string(), &parts))
    })
}
