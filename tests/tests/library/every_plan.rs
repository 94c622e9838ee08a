//! Rules for the plans of every library: dropped plans, two streams, threads, exhausted memory, a lost device, NaNs.
//!
//! Random numbers have no plan: a generator is plain data, and each call is a launch.

use std::sync::Arc;
use std::sync::mpsc::channel;

use streamflow::memory::{Complex, MemoryOptions};
use streamflow::prelude::*;
use streamflow_math::Plan;
use streamflow_math::fft::{InverseRealFft, Norm, RealFft};
use streamflow_math::matmul::{Blas, Matmul};
use streamflow_math::solve::{
    Checked, Cholesky, DirectSolver, Eigen, Eigenpairs, Lu, Qr, QrFactors, SingularValues, Svd,
    System,
};
use streamflow_math::sparse::{Csr, SpMm, SpMv};
use streamflow_tests::kernels::{axpy, slow_fill, trap};
use streamflow_tests::layers::{CallKind, FailNth};
use streamflow_tests::{Failed, Suite, check, check_text, cudss};

use super::in_tick::{holds_in_tick, in_tick, ticks_on_threads};

/// How many clock cycles a slow kernel takes: much longer than a call, about 10 ms on a GPU.
const SLOW: u64 = 20_000_000;
/// How many elements an operand has.
const N: usize = 4;

/// A plan that computes `y = 2 x` on its stream.
trait Doubles: Send {
    fn double(&mut self, stream: &Stream<'_>, x: &Tensor<f32>, y: &mut Tensor<f32>) -> Result<()>;
}

/// Makes the plan, with the values that it keeps.
type Make = fn(&ExecutionContext, &Stream<'_>) -> Result<Box<dyn Doubles>>;

/// A plan's name, the shape of its operands, and the function that makes it.
type MadePlan = (&'static str, &'static [usize], Make);

const PLANS: &[MadePlan] = &[
    ("a transform", &[N], |cx, s| {
        let back = InverseRealFft::plan(N).norm(Norm::ByLength).on(cx, s)?;
        let spectrum = cx.tensor([N / 2 + 1], s)?;
        Ok(Box::new(Transform { there: RealFft::plan(N).on(cx, s)?, back, spectrum }))
    }),
    ("a product", &[1, N], |cx, s| {
        let two = cx.upload(&[2.0_f32])?.reshape([1, 1])?;
        Ok(Box::new((Matmul::<f32>::plan(1, N, 1).on(cx, s)?, two)))
    }),
    ("vectors", &[N], |cx, s| Ok(Box::new(Blas::<f32>::on(cx, s)?))),
    ("a sparse product", &[N], |cx, s| {
        let a = twice(cx)?;
        Ok(Box::new((SpMv::plan(&a).on(cx, s)?, a)))
    }),
    ("a sparse product of matrices", &[N, 1], |cx, s| {
        let a = twice(cx)?;
        Ok(Box::new((SpMm::plan(&a, 1).on(cx, s)?, a)))
    }),
    ("LU", &[N], |cx, s| {
        let x = Checked::new(cx.tensor([N], s)?, cx, s)?;
        Ok(Box::new(Solver { plan: Lu::plan(N).on(cx, s)?, a: half(cx)?, x }))
    }),
    ("Cholesky", &[N], |cx, s| {
        let x = Checked::new(cx.tensor([N], s)?, cx, s)?;
        Ok(Box::new(Solver { plan: Cholesky::plan(N).on(cx, s)?, a: half(cx)?, x }))
    }),
    ("QR", &[N, 1], |cx, s| {
        let mut plan = Qr::plan(N, 1).on(cx, s)?;
        let out = plan.result(cx, s)?;
        Ok(Box::new(Orthogonal { plan, out, blas: Blas::on(cx, s)? }))
    }),
    ("singular values", &[2, 2], |cx, s| {
        let mut plan = Svd::plan(2, 2).on(cx, s)?;
        let out = plan.result(cx, s)?;
        Ok(Box::new(Values { plan, out, blas: Blas::on(cx, s)?, ones: ones(cx)? }))
    }),
    ("eigenvalues", &[2, 2], |cx, s| {
        let mut plan = Eigen::plan(2).on(cx, s)?;
        let out = plan.result(cx, s)?;
        Ok(Box::new(Values { plan, out, blas: Blas::on(cx, s)?, ones: ones(cx)? }))
    }),
];

/// How many plans pass a NaN through. Decompositions may return an error for a matrix with one.
const WITH_NANS: usize = 7;

/// The plan of a library that is not part of a CUDA toolkit.
const DIRECT: &[MadePlan] = &[("a direct solution", &[N], |cx, s| {
    let a = Csr::upload(cx, [N, N], &[0, 1, 2, 3, 4], &[0, 1, 2, 3], &[0.5; N])?;
    Ok(Box::new((DirectSolver::plan(&a).on_blocking(cx, s)?, a)))
})];

struct Transform {
    there: Plan<RealFft<f32>>,
    back: Plan<InverseRealFft<f32>>,
    spectrum: Tensor<Complex<f32>>,
}

struct Solver<S> {
    plan: Plan<S>,
    a: Tensor<f32>,
    x: Checked<Tensor<f32>>,
}

/// A plan that decomposes the column `x` into `Q R`.
struct Orthogonal {
    plan: Plan<Qr<f32>>,
    out: Checked<QrFactors<f32>>,
    blas: Plan<Blas<f32>>,
}

/// The largest value of a matrix of 2 by 2 equal elements is twice an element.
struct Values<P, V> {
    plan: Plan<P>,
    out: Checked<V>,
    blas: Plan<Blas<f32>>,
    ones: Tensor<f32>,
}

/// Returns a tensor of the shape `[N, 1]`, full of ones.
fn ones(cx: &ExecutionContext) -> Result<Tensor<f32>> {
    Ok(cx.upload(&[1.0; N])?.reshape([N, 1])?)
}

/// Returns a matrix with 2 on its diagonal.
fn twice(cx: &ExecutionContext) -> Result<Csr<f32>> {
    Ok(Csr::upload(cx, [N, N], &[0, 1, 2, 3, 4], &[0, 1, 2, 3], &[2.0; N])?)
}

/// Returns a matrix with 1/2 on its diagonal.
fn half(cx: &ExecutionContext) -> Result<Tensor<f32>> {
    let mut a = [0.0_f32; N * N];
    (0..N).for_each(|row| a[row * (N + 1)] = 0.5);
    Ok(cx.upload(&a)?.reshape([N, N])?)
}

impl Doubles for Transform {
    fn double(&mut self, stream: &Stream<'_>, x: &Tensor<f32>, y: &mut Tensor<f32>) -> Result<()> {
        self.there.forward(stream, x, &mut self.spectrum)?;
        self.back.inverse(stream, &mut self.spectrum, y)?;
        Ok(stream.launch::<axpy<f32>>(N, (y, 1.0, x, x))?)
    }
}

impl Doubles for (Plan<Matmul<f32>>, Tensor<f32>) {
    fn double(&mut self, stream: &Stream<'_>, x: &Tensor<f32>, y: &mut Tensor<f32>) -> Result<()> {
        Ok(self.0.execute(stream, &self.1, x, y)?)
    }
}

impl Doubles for Plan<Blas<f32>> {
    fn double(&mut self, stream: &Stream<'_>, x: &Tensor<f32>, y: &mut Tensor<f32>) -> Result<()> {
        stream.fill_bytes(y, 0)?;
        Ok(self.axpy(stream, 2.0, x, y)?)
    }
}

impl Doubles for (Plan<SpMv<f32>>, Csr<f32>) {
    fn double(&mut self, stream: &Stream<'_>, x: &Tensor<f32>, y: &mut Tensor<f32>) -> Result<()> {
        Ok(self.0.execute(stream, &self.1, x, y)?)
    }
}

impl Doubles for (Plan<DirectSolver<f32>>, Csr<f32>) {
    fn double(&mut self, stream: &Stream<'_>, x: &Tensor<f32>, y: &mut Tensor<f32>) -> Result<()> {
        Ok(self.0.solve(stream, &self.1, x, y)?)
    }
}

impl Doubles for (Plan<SpMm<f32>>, Csr<f32>) {
    fn double(&mut self, stream: &Stream<'_>, x: &Tensor<f32>, y: &mut Tensor<f32>) -> Result<()> {
        Ok(self.0.execute(stream, &self.1, x, y)?)
    }
}

impl<S: System<Element = f32>> Doubles for Solver<S> {
    fn double(&mut self, stream: &Stream<'_>, x: &Tensor<f32>, y: &mut Tensor<f32>) -> Result<()> {
        self.plan.solve(stream, &self.a, x, &mut self.x)?;
        Ok(stream.copy(self.x.on_device(), y)?)
    }
}

impl Doubles for Orthogonal {
    fn double(&mut self, stream: &Stream<'_>, x: &Tensor<f32>, y: &mut Tensor<f32>) -> Result<()> {
        self.plan.execute(stream, x, &mut self.out)?;
        let QrFactors { q, r } = self.out.on_device();
        Ok(self.blas.gemv(stream, (2.0, q, r), (0.0, y))?)
    }
}

impl Doubles for Values<Svd<f32>, SingularValues<f32>> {
    fn double(&mut self, stream: &Stream<'_>, x: &Tensor<f32>, y: &mut Tensor<f32>) -> Result<()> {
        self.plan.execute_blocking(stream, x, &mut self.out)?;
        let largest = self.out.on_device().s.slice(..1).ok_or_else(|| Failure::msg("no value"))?;
        Ok(self.blas.gemv(stream, (1.0, &self.ones, &largest), (0.0, y))?)
    }
}

impl Doubles for Values<Eigen<f32>, Eigenpairs<f32>> {
    fn double(&mut self, stream: &Stream<'_>, x: &Tensor<f32>, y: &mut Tensor<f32>) -> Result<()> {
        self.plan.execute_blocking(stream, x, &mut self.out)?;
        let values = &self.out.on_device().values;
        let largest = values.slice(1..).ok_or_else(|| Failure::msg("no value"))?;
        Ok(self.blas.gemv(stream, (1.0, &self.ones, &largest), (0.0, y))?)
    }
}

pub(crate) fn add(suite: Suite) -> Suite {
    let suite = rules(suite, "each_plan", PLANS, &PLANS[..WITH_NANS]);
    let suite = cudss::needed(suite, |suite| rules(suite, "a_direct_plan", DIRECT, DIRECT));
    suite
        // The other plans are left out of the control: without waits they would read indices and pivots from memory that
        // has none.
        .ordered("two_plans_exchange_their_data", |platform| two_streams(platform, &PLANS[..3]))
        .ordered("two_decompositions_exchange_their_data", |platform| {
            two_streams(platform, &PLANS[WITH_NANS..])
        })
}

type Plans = &'static [MadePlan];
type Rule = fn(&Platform, Plans) -> Result<(), Failed>;

/// The rules that each plan is tested with, on simulator and GPU.
const RULES: [(&str, Rule); 5] = [
    ("each_plan_may_be_dropped_while_its_work_runs", dropped),
    ("each_plan_comes_after_what_its_library_queued_to_make_it", made_late),
    ("each_plan_has_a_second_one_on_another_stream", second),
    ("each_plan_works_in_ticks_on_several_threads", threads),
    ("each_plan_that_memory_has_no_room_for_is_an_error", no_room),
];

/// Adds tests of the rules for these plans. With `with_nans`, their results pass NaNs through. `plan` replaces
/// `each_plan` in the tests' names.
fn rules(suite: Suite, plan: &str, plans: Plans, with_nans: Plans) -> Suite {
    let name = |rule: &str| rule.replace("each_plan", plan);
    let suite = RULES.into_iter().fold(suite, |suite, (rule, test)| {
        suite.both(&name(rule), move |platform| test(platform, plans))
    });
    suite
        .both(&name("each_plan_that_decomposes_nothing_passes_a_nan_through"), move |it| {
            nan(it, with_nans)
        })
        .host(&name("each_plan_on_a_lost_device_is_an_error"), move |it| lost(it, plans))
}

fn second(platform: &Platform, plans: Plans) -> Result<(), Failed> {
    check(two_streams(platform, plans)?, || "the data is wrong".into())
}

fn all(found: &[f32], wanted: f32) -> bool {
    found.len() == N && found.iter().all(|found| (found - wanted).abs() < 1e-4)
}

/// Tests dropped plans. The pool gives dropped memory back to the driver, so that other streams get it.
fn dropped(platform: &Platform, plans: Plans) -> Result<(), Failed> {
    let memory = MemoryOptions::new().release_threshold(0);
    let platform = Platform::builder().memory(memory).driver(platform.driver().clone())?;
    in_tick(&platform, move |cx, work, other| {
        for (name, shape, make) in plans {
            let (mut x, mut y) = (cx.tensor(*shape, work)?, cx.tensor(*shape, work)?);
            let mut plan = make(cx, work)?;
            // The allocation of the work areas is complete, so that only the call itself keeps them alive.
            work.synchronize_blocking()?;
            work.launch::<slow_fill>(N, (&mut x, 3.0, SLOW))?;
            plan.double(work, &x, &mut y)?;
            drop(plan);
            for _ in 0..4 {
                let mut taken = cx.tensor([N], other)?;
                other.launch::<slow_fill>(N, (&mut taken, 77.0, 0))?;
            }
            let found = work.download_blocking(&y)?;
            check(all(&found, 6.0), || format!("{name}: {found:?}"))?;
        }
        Ok(())
    })
}

/// While a library makes a plan, it may work on the default stream, as cuFFT does, and here that stream is late. Without
/// a wait, a transform on a GPU would read tables that are not written yet.
fn made_late(platform: &Platform, plans: Plans) -> Result<(), Failed> {
    in_tick(platform, move |cx, work, _| {
        let default = cx.default_stream()?;
        let mut busy = cx.tensor([N], &default)?;
        for (name, shape, make) in plans {
            default.launch::<slow_fill>(N, (&mut busy, 1.0, SLOW))?;
            let mut plan = make(cx, work)?;
            let (mut x, mut y) = (cx.tensor(*shape, work)?, cx.tensor(*shape, work)?);
            work.launch::<slow_fill>(N, (&mut x, 3.0, 0))?;
            plan.double(work, &x, &mut y)?;
            let found = work.download_blocking(&y)?;
            check(all(&found, 6.0), || format!("{name}: {found:?}"))?;
        }
        // cuFFT makes a table for each of these lengths.
        for len in [7, 37, 50, 97, 1_009, 4_096] {
            default.launch::<slow_fill>(N, (&mut busy, 1.0, SLOW))?;
            let mut there = RealFft::plan(len).on(cx, work)?;
            let mut back = InverseRealFft::plan(len).norm(Norm::ByLength).on(cx, work)?;
            let (mut x, mut y) = (cx.tensor([len], work)?, cx.tensor([len], work)?);
            let mut spectrum = cx.tensor([len / 2 + 1], work)?;
            work.launch::<slow_fill>(len, (&mut x, 3.0, 0))?;
            there.forward(work, &x, &mut spectrum)?;
            back.inverse(work, &mut spectrum, &mut y)?;
            let found: Vec<f32> = work.download_blocking(&y)?;
            let is_right = found.iter().all(|found| (found - 3.0).abs() < 1e-4);
            check(is_right, || format!("{len} numbers: {found:?}"))?;
        }
        Ok(())
    })
}

/// Two streams take turns: each doubles the data that the previous call has made. Returns whether all data was right.
fn two_streams(platform: &Platform, plans: Plans) -> Result<bool> {
    holds_in_tick(platform, move |cx, work, other| {
        let mut is_right = true;
        for (_, shape, make) in plans {
            let (mut first, mut second) = (make(cx, work)?, make(cx, other)?);
            // Without waits, a plan reads these values. They replace whatever the memory had before, with which a
            // decomposition might never end.
            let before = || cx.upload(&[9.0; N])?.reshape(*shape);
            let (mut x, mut y) = (before()?, before()?);
            for round in 1..4 {
                let value = round as f32;
                work.launch::<slow_fill>(N, (&mut x, value, SLOW / 10))?;
                second.double(other, &x, &mut y)?;
                first.double(work, &y, &mut x)?;
                is_right &= all(&other.download_blocking(&x)?, 4.0 * value);
            }
            // The work is completed first, since a library may wait for the device while it makes the next plan.
            work.synchronize_blocking()?;
            other.synchronize_blocking()?;
        }
        Ok(is_right)
    })
}

/// Solvers report a NaN in the matrix, and not one in the right-hand side.
fn nan(platform: &Platform, plans: Plans) -> Result<(), Failed> {
    in_tick(platform, move |cx, work, _| {
        for (name, shape, make) in plans {
            let x = cx.upload(&[f32::NAN; N])?.reshape(*shape)?;
            let mut y = cx.tensor(*shape, work)?;
            make(cx, work)?.double(work, &x, &mut y)?;
            let found = work.download_blocking(&y)?;
            check(found.iter().all(|found| found.is_nan()), || format!("{name}: {found:?}"))?;
        }
        Ok(())
    })
}

fn threads(platform: &Platform, plans: Plans) -> Result<(), Failed> {
    let mut made = Vec::new();
    ticks_on_threads(platform, 3, move |cx, work, other| {
        if made.is_empty() {
            for (_, _, make) in plans {
                made.push(make(cx, work)?);
            }
        }
        let value = (1 + cx.tick()) as f32;
        for ((name, shape, _), plan) in plans.iter().zip(&mut made) {
            let (mut x, mut y) = (cx.tensor(*shape, other)?, cx.tensor(*shape, work)?);
            other.launch::<slow_fill>(N, (&mut x, value, SLOW / 10))?;
            plan.double(work, &x, &mut y)?;
            let found = work.download_blocking(&y)?;
            check(all(&found, 2.0 * value), || format!("{name}, tick {}: {found:?}", cx.tick()))?;
        }
        Ok(())
    })
}

/// Each allocation of each plan fails in turn, and the next plan is right.
fn no_room(platform: &Platform, plans: Plans) -> Result<(), Failed> {
    for (name, shape, make) in plans {
        let mut failed = 0;
        for nth in 0..20 {
            let driver = platform.driver().clone();
            let failing = Arc::new(FailNth::new(driver, CallKind::Allocate, nth));
            let platform = Platform::builder().driver(failing)?;
            let (tell, told) = channel();
            in_tick(&platform, move |cx, work, _| {
                let made = make(cx, work);
                tell.send(made.as_ref().err().map(ToString::to_string))?;
                if made.is_ok() {
                    return Ok(());
                }
                let x = cx.upload(&[3.0_f32; N])?.reshape(*shape)?;
                let mut y = cx.tensor(*shape, work)?;
                make(cx, work)?.double(work, &x, &mut y)?;
                let found = work.download_blocking(&y)?;
                check(all(&found, 6.0), || format!("{name}, allocation {nth}: {found:?}"))
            })?;
            let Some(text) = told.recv()? else { break };
            check_text(&text, &["INJECTED"])?;
            failed += 1;
        }
        check(failed > 0, || format!("{name} allocates nothing"))?;
    }
    Ok(())
}

/// Checks that after a fault of the device no call does anything, and that dropping the plans waits for nothing.
fn lost(given: &Platform, plans: Plans) -> Result<(), Failed> {
    for (name, shape, make) in plans {
        let platform =
            Platform::host().seed(given.driver().observer().seed().unwrap_or(0)).build()?;
        let (tell, told) = channel();
        let run = in_tick(&platform, move |cx, work, _| {
            let mut plan = make(cx, work)?;
            let (x, mut y) = (cx.upload(&[3.0_f32; N])?.reshape(*shape)?, cx.tensor(*shape, work)?);
            plan.double(work, &x, &mut y)?;
            let mut broken = cx.tensor([N], work)?;
            work.launch::<trap>(N, (&mut broken,))?;
            let fault = work.synchronize_blocking().err().map(|error| error.to_string());
            let done = plan.double(work, &x, &mut y).err().map(|error| error.to_string());
            let again = make(cx, work).err().map(|error| error.to_string());
            Ok(tell.send((fault, done, again))?)
        });
        let (fault, done, again) = told.recv()?;
        check(fault.is_some(), || format!("{name}: the device has not failed"))?;
        check(done.is_some() && again.is_some(), || format!("{name}: {done:?}, {again:?}"))?;
        check(run.is_err(), || format!("{name}: the run has not failed"))?;
    }
    Ok(())
}
