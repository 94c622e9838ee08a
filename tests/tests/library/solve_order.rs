//! Checks that solvers are ordered by their operands and results, and that their plans stay valid over ticks.

use std::sync::Arc;

use streamflow::driver::Recorder;
use streamflow::prelude::*;
use streamflow_driver::driver::Call;
use streamflow_math::Plan;
use streamflow_math::solve::{self, Checked, Cholesky, Eigen, Lu, Qr, QrFactors, Svd};
use streamflow_tests::kernels::{add_one, slow_copy, slow_fill};
use streamflow_tests::layers::DirtyWork;
use streamflow_tests::ordered::{Program, right, without_waits};
use streamflow_tests::{Failed, Suite, check};

use super::in_tick::{holds_in_tick, in_ticks, is_unsolvable, load_kernels};
use super::matrices::{definite, near, numbers, product, solves, to_f64, transposed, upload};

/// The programs. The number says how many of a control's 100 seeds must give wrong data: the seeds that execute
/// the call before the work that it must come after.
const PROGRAMS: &[(&str, Program, usize)] = &[
    ("a_solver_comes_after_the_writes_of_its_operands", reads_late_data, 15),
    ("a_later_read_comes_after_a_factorisation_in_place", is_read_later, 30),
    ("a_later_write_comes_after_what_a_solver_reads", is_overwritten_later, 30),
    ("the_statuses_are_read_after_their_solver", statuses, 10),
    ("a_plan_that_is_dropped_is_freed_after_its_work", dropped, 15),
];

/// The length of a slow kernel in cycles. It takes about 10 ms on a GPU, much longer than a call of the host.
const SLOW: u64 = 20_000_000;

pub(crate) fn add(suite: Suite) -> Suite {
    let suite = PROGRAMS.iter().fold(suite, |suite, &(name, program, must_show)| {
        suite.both(name, move |platform| right(program, platform)).control_on(
            &format!("{name}_control"),
            1,
            must_show,
            move |driver| without_waits(program, driver),
        )
    });
    suite
        .both("plans_are_right_in_each_tick_with_dirty_work_areas", kept)
        .both("two_plans_of_one_operator_work_on_two_streams", two_streams)
        .both("solvers_in_steady_ticks_allocate_nothing", steady)
}

/// Returns the values of a result, or `None` if its status is an error, as it may be in a control.
fn opened(download: &solve::CheckedDownload<f32>) -> Result<Option<Vec<f32>>> {
    match download.wait_blocking() {
        Ok(values) => Ok(Some(values.to_vec())),
        Err(error) if is_unsolvable(&error) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn reads_late_data(platform: &Platform) -> Result<bool> {
    holds_in_tick(platform, |cx, work, other| {
        let mut plan = Lu::plan(1).on(cx, work)?;
        let (mut a, mut b) = (upload(cx, &[1.0_f32], &[1, 1])?, cx.upload(&[1.0_f32])?);
        let mut x = Checked::new(cx.tensor([1], work)?, cx, work)?;
        plan.solve(work, &a, &b, &mut x)?;
        other.launch::<slow_fill>(1, (&mut a, 2.0, SLOW))?;
        other.launch::<slow_fill>(1, (&mut b, 6.0, SLOW))?;
        plan.solve(work, &a, &b, &mut x)?;
        Ok(opened(&x.download(work)?)?.is_some_and(|found| found == [3.0]))
    })
}

fn is_read_later(platform: &Platform) -> Result<bool> {
    holds_in_tick(platform, |cx, work, other| {
        let mut plan = Cholesky::plan(1).on(cx, work)?;
        let mut earlier = Checked::new(upload(cx, &[1.0_f32], &[1, 1])?, cx, work)?;
        plan.factor_in_place(work, &mut earlier)?;
        load_kernels(cx, work)?;
        let mut a = upload(cx, &[1.0_f32], &[1, 1])?;
        work.launch::<slow_fill>(1, (&mut a, 49.0, SLOW))?;
        let mut l = Checked::new(a, cx, work)?;
        plan.factor_in_place(work, &mut l)?;
        let more = l.then(|mut l| {
            other.launch::<add_one>(1, (&mut l,))?;
            Ok(l)
        })?;
        Ok(opened(&more.download(other)?)?.is_some_and(|found| found == [8.0]))
    })
}

fn is_overwritten_later(platform: &Platform) -> Result<bool> {
    holds_in_tick(platform, |cx, work, other| {
        let mut plan = Lu::plan(1).on(cx, work)?;
        let (mut a, b) = (upload(cx, &[2.0_f32], &[1, 1])?, cx.upload(&[6.0_f32])?);
        let mut x = Checked::new(cx.tensor([1], work)?, cx, work)?;
        let mut slow = cx.upload(&[0.0_f32])?;
        plan.solve(work, &a, &b, &mut x)?;
        load_kernels(cx, work)?;
        work.launch::<slow_copy>(1, (&mut slow, &b, SLOW))?;
        plan.solve(work, &a, &b, &mut x)?;
        other.launch::<slow_fill>(1, (&mut a, 1.0, 0))?;
        other.synchronize_blocking()?;
        Ok(opened(&x.download(work)?)?.is_some_and(|found| found == [3.0]))
    })
}

fn statuses(platform: &Platform) -> Result<bool> {
    holds_in_tick(platform, |cx, work, other| {
        let mut plan = Lu::plan(1).on(cx, work)?;
        let (mut a, b) = (upload(cx, &[2.0_f32], &[1, 1])?, cx.upload(&[6.0_f32])?);
        let mut x = Checked::new(cx.tensor([1], work)?, cx, work)?;
        plan.solve(work, &a, &b, &mut x)?;
        work.synchronize_blocking()?;
        work.launch::<slow_fill>(1, (&mut a, 0.0, SLOW))?;
        plan.solve(work, &a, &b, &mut x)?;
        // The result is read on another stream, so the status must be that of the second call.
        Ok(x.open_blocking(other).is_err())
    })
}

fn dropped(platform: &Platform) -> Result<bool> {
    holds_in_tick(platform, |cx, work, other| {
        let (a, mut b) = (upload(cx, &[4.0_f32], &[1, 1])?, cx.upload(&[1.0_f32])?);
        let mut kept = Cholesky::plan(1).on(cx, work)?.factor(work, &a)?;
        let mut x = Checked::new(cx.tensor([1], work)?, cx, work)?;
        work.synchronize_blocking()?;
        work.launch::<slow_fill>(1, (&mut b, 12.0, SLOW))?;
        kept.solve(work, &b, &mut x)?;
        drop(kept);
        // These buffers get the memory of the dropped plan, which is free only in the order of the plan's stream.
        let again: Result<Vec<Buffer<u8>>, Error> = (0..8).map(|_| cx.buffer(512, work)).collect();
        for mut buffer in again? {
            other.fill_bytes(&mut buffer, 0xff)?;
        }
        other.synchronize_blocking()?;
        Ok(opened(&x.download(work)?)?.is_some_and(|found| found == [3.0]))
    })
}

/// All plans of an operator, which it keeps from tick to tick.
struct Plans {
    lu: Plan<Lu<f64>>,
    cholesky: Plan<Cholesky<f64>>,
    qr: Plan<Qr<f64>>,
    svd: Plan<Svd<f64>>,
    eigen: Plan<Eigen<f64>>,
    lus: Plan<Lu<f64>>,
    svds: Plan<Svd<f64>>,
    eigens: Plan<Eigen<f64>>,
}

const N: usize = 7;

impl Plans {
    fn new(cx: &ExecutionContext, stream: &Stream<'_>) -> Result<Self> {
        Ok(Self {
            lu: Lu::plan(N).on(cx, stream)?,
            cholesky: Cholesky::plan(N).on(cx, stream)?,
            qr: Qr::plan(N, N).on(cx, stream)?,
            svd: Svd::plan(N, N).on(cx, stream)?,
            eigen: Eigen::plan(N).on(cx, stream)?,
            lus: Lu::plan(N).batch(2).on(cx, stream)?,
            svds: Svd::plan(N, N).batch(2).on(cx, stream)?,
            eigens: Eigen::plan(N).batch(2).on(cx, stream)?,
        })
    }

    fn check(&mut self, cx: &ExecutionContext, stream: &Stream<'_>, seed: u64) -> Result<()> {
        let (a, b) = (definite::<f64>(N, seed), numbers::<f64>(N, seed));
        let (matrix, side) = (upload(cx, &a, &[N, N])?, upload(cx, &b, &[N])?);
        let mut x = Checked::new(cx.tensor([N], stream)?, cx, stream)?;
        self.lu.solve(stream, &matrix, &side, &mut x)?;
        solves(N, &a, &b, x.download(stream)?.wait_blocking()?)?;
        self.cholesky.solve(stream, &matrix, &side, &mut x)?;
        solves(N, &a, &b, x.download(stream)?.wait_blocking()?)?;
        let mut out = self.qr.result(cx, stream)?;
        self.qr.execute(stream, &matrix, &mut out)?;
        let (q, r) = both(&out, stream)?;
        near("Q R", &product((N, N, N), &q, &r), &a, 1e-11)?;
        let (mut svd, mut eigen) = (self.svd.result(cx, stream)?, self.eigen.result(cx, stream)?);
        self.svd.execute_blocking(stream, &matrix, &mut svd)?;
        self.eigen.execute_blocking(stream, &matrix, &mut eigen)?;
        let s = svd.download_of(|it| &it.s, stream)?;
        let vectors = eigen.download_of(|it| &it.vectors, stream)?;
        let mut values = eigen.download_of(|it| &it.values, stream)?.wait_blocking()?.to_vec();
        let vectors = vectors.wait_blocking()?;
        let scaled: Vec<f64> = (0..N * N).map(|at| vectors[at] * values[at / N]).collect();
        let rebuilt = product((N, N, N), &transposed((N, N), vectors), &scaled);
        near("VT L V", &rebuilt, &a, 1e-11)?;
        values.reverse();
        near("the values", s.wait_blocking()?, &values, 1e-11)?;
        self.check_batches(cx, stream, &a, &values)
    }

    /// Checks the solutions for two matrices. The second matrix has twice the values of the first. The largest values
    /// come first.
    fn check_batches(
        &mut self,
        cx: &ExecutionContext,
        stream: &Stream<'_>,
        a: &[f64],
        values: &[f64],
    ) -> Result<()> {
        let both: Vec<f64> = a.iter().copied().chain(a.iter().map(|value| 2.0 * value)).collect();
        let matrices = upload(cx, &both, &[2, N, N])?;
        let (mut svd, mut eigen) = (self.svds.result(cx, stream)?, self.eigens.result(cx, stream)?);
        self.svds.execute_blocking(stream, &matrices, &mut svd)?;
        self.eigens.execute_blocking(stream, &matrices, &mut eigen)?;
        let sides = upload(cx, &[1.0; 2 * N], &[2, N])?;
        let mut x = Checked::of_batch(2, cx.tensor([2, N], stream)?, cx, stream)?;
        self.lus.solve(stream, &matrices, &sides, &mut x)?;
        let x = x.download(stream)?;
        solves(N, a, &[1.0; N], &x.wait_blocking()?[..N])?;
        solves(N, a, &[0.5; N], &x.wait_blocking()?[N..])?;
        let s = svd.download_of(|it| &it.s, stream)?;
        let found = eigen.download_of(|it| &it.values, stream)?;
        let mut found = found.wait_blocking()?.to_vec();
        found.chunks_exact_mut(N).for_each(<[f64]>::reverse);
        let wanted: Vec<f64> =
            values.iter().copied().chain(values.iter().map(|value| 2.0 * value)).collect();
        near("the eigenvalues of a batch", &found, &wanted, 1e-10)?;
        near("the singular values of a batch", s.wait_blocking()?, &wanted, 1e-10)
    }
}

fn both(out: &Checked<QrFactors<f64>>, stream: &Stream<'_>) -> Result<(Vec<f64>, Vec<f64>)> {
    let (q, r) = (out.download_of(|it| &it.q, stream)?, out.download_of(|it| &it.r, stream)?);
    Ok((to_f64(q.wait_blocking()?), to_f64(r.wait_blocking()?)))
}

fn kept(platform: &Platform) -> Result<(), Failed> {
    let dirty = Arc::new(DirtyWork::new(platform.driver().clone()));
    let platform = Platform::builder().driver(dirty.clone())?;
    let mut plans = None;
    in_ticks(&platform, 4, move |cx, stream, _| {
        let plans = match &mut plans {
            Some(plans) => plans,
            empty => empty.insert(Plans::new(cx, stream)?),
        };
        plans.check(cx, stream, cx.tick() + 1)
    })?;
    check(dirty.filled() >= 4 * 10, || format!("only {} work areas", dirty.filled()))
}

fn two_streams(platform: &Platform) -> Result<(), Failed> {
    let mut plans = None;
    in_ticks(platform, 3, move |cx, work, other| {
        let pair = match &mut plans {
            Some(pair) => pair,
            empty => empty.insert([Plans::new(cx, work)?, Plans::new(cx, other)?]),
        };
        let [first, second] = pair;
        let (a, b) = (definite::<f64>(N, cx.tick()), numbers::<f64>(N, 1));
        let (matrix, side) = (upload(cx, &a, &[N, N])?, upload(cx, &b, &[N])?);
        let mut x = Checked::new(cx.tensor([N], work)?, cx, work)?;
        let mut y = Checked::new(cx.tensor([N], other)?, cx, other)?;
        first.lu.solve(work, &matrix, &side, &mut x)?;
        second.lu.solve(other, &matrix, &side, &mut y)?;
        solves(N, &a, &b, x.download(other)?.wait_blocking()?)?;
        solves(N, &a, &b, y.download(work)?.wait_blocking()?)?;
        first.check(cx, work, 1)?;
        second.check(cx, other, 2)
    })
}

fn steady(platform: &Platform) -> Result<(), Failed> {
    let recorder = Arc::new(Recorder::new(platform.driver().clone()));
    let platform = Platform::builder().driver(recorder.clone())?;
    let log = recorder.clone();
    in_ticks(&platform, 1, move |cx, stream, _| {
        let mut plans = Plans::new(cx, stream)?;
        let (matrix, side) = (
            upload(cx, &definite::<f64>(N, 1), &[N, N])?,
            upload(cx, &numbers::<f64>(N, 1), &[N])?,
        );
        let mut x = Checked::new(cx.tensor([N], stream)?, cx, stream)?;
        let mut qr = plans.qr.result(cx, stream)?;
        let (mut svd, mut eigen) = (plans.svd.result(cx, stream)?, plans.eigen.result(cx, stream)?);
        let (mut svds, mut eigens) =
            (plans.svds.result(cx, stream)?, plans.eigens.result(cx, stream)?);
        let matrices = upload(cx, &definite::<f64>(N, 1).repeat(2), &[2, N, N])?;
        let sides = upload(cx, &numbers::<f64>(2 * N, 1), &[2, N])?;
        let mut xs = Checked::of_batch(2, cx.tensor([2, N], stream)?, cx, stream)?;
        for round in 0..5 {
            if round == 1 {
                log.clear();
            }
            plans.lu.solve(stream, &matrix, &side, &mut x)?;
            plans.cholesky.solve(stream, &matrix, &side, &mut x)?;
            plans.qr.execute(stream, &matrix, &mut qr)?;
            plans.svd.execute_blocking(stream, &matrix, &mut svd)?;
            plans.eigen.execute_blocking(stream, &matrix, &mut eigen)?;
            plans.lus.solve(stream, &matrices, &sides, &mut xs)?;
            plans.svds.execute_blocking(stream, &matrices, &mut svds)?;
            plans.eigens.execute_blocking(stream, &matrices, &mut eigens)?;
        }
        let calls = log.calls();
        let works = |call: &&Call| {
            let is_work = matches!(call, Call::Library { .. } | Call::Launch { .. });
            is_work || matches!(call, Call::Copy { .. } | Call::Fill { .. } | Call::Bind { .. })
        };
        let others: Vec<_> = calls.iter().filter(|call| !works(call)).collect();
        // The calls are only work: no allocation, and no wait of the host.
        check(others.is_empty() && calls.len() > 40, || format!("{others:?} of {}", calls.len()))?;
        Ok(())
    })
}
