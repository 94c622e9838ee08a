//! The order of transforms: each comes after the writes of its input, and before later reads and writes of its
//! output. Plans stay valid over several ticks and streams.

use std::sync::Arc;

use streamflow::memory::Complex;
use streamflow::prelude::*;
use streamflow::testing::OperatorHarness;
use streamflow_driver::driver::Call;
use streamflow_math::Plan;
use streamflow_math::fft::{Fft, InverseRealFft, Norm, RealFft};
use streamflow_tests::kernels::{add_one, slow_fill};
use streamflow_tests::layers::{Bound, PoisonsWork};
use streamflow_tests::ordered::Program;
use streamflow_tests::setup::recorded;
use streamflow_tests::{Failed, Suite, check, check_equal, check_text};

use super::dft::{complex_numbers, dft};
use super::within::{stream, within};

/// The length of the transforms, which is no power of two.
const N: usize = 1000;
/// The length of a slow kernel in cycles. It takes about 10 ms on a GPU, much longer than a call of the host.
const SLOW: u64 = 20_000_000;

const PROGRAMS: &[(&str, Program)] = &[
    ("a_transform_comes_after_the_write_of_its_input", reads_late_data),
    ("a_later_kernel_comes_after_a_normalized_transform", is_read_later),
    ("a_later_write_comes_after_a_transform_that_reads", is_overwritten_later),
    ("two_plans_of_one_operator_work_on_two_streams", two_plans),
];

pub(super) fn add(suite: Suite) -> Suite {
    let suite = PROGRAMS.iter().fold(suite, |suite, &(name, program)| suite.ordered(name, program));
    suite
        .both("a_plan_is_kept_over_ticks", kept)
        .values(|suite| {
            suite
                .both("a_transform_needs_nothing_that_is_in_its_work_area", poisoned)
                .both("a_transform_is_one_call_and_its_normalization_a_launch", steady)
        })
        .both("a_plan_may_be_dropped_while_its_work_runs", dropped)
        .devices("a_plan_works_on_its_device_when_another_is_bound", 2, elsewhere)
}

/// Returns whether `spectrum` is the transform of `N` elements that all equal `value`.
fn is_of_constant(spectrum: &[Complex<f32>], value: f32) -> bool {
    let near = |found: &Complex<f32>, wanted: f32| (found - wanted).norm() < 0.1;
    near(&spectrum[0], value * N as f32) && spectrum[1..].iter().all(|found| near(found, 0.0))
}

/// The ways in which a hook's code can leave another device bound to the thread.
const DOORS: [Door; 8] = [
    |cx, _| Ok(cx.platform().driver().bind(device(1))?),
    // A call of streamflow itself: queuing work on the other device, or dropping its memory, binds that device.
    |cx, _| {
        let far = cx.platform().default_stream(device(1))?;
        let mut memory = cx.platform().tensor::<f32>([1], &far)?;
        Ok(far.fill_bytes(&mut memory, 0)?)
    },
    |cx, _| {
        let _driver = cx.platform().driver();
        unseen();
        Ok(())
    },
    |_, stream| {
        let _raw = stream.raw();
        unseen();
        Ok(())
    },
    |cx, stream| Ok(stream.read_raw(&cx.tensor::<f32>([1], stream)?, |_| unseen())?),
    |cx, stream| Ok(stream.write_raw(&mut cx.tensor::<f32>([1], stream)?, |_| unseen())?),
    |cx, stream| {
        cx.on_stream(stream, |_| {
            unseen();
            Ok(())
        })?;
        Ok(())
    },
    |cx, stream| Ok(cx.on_stream(stream, |_| Ok(()))?.with(stream, |()| unseen())?),
];

type Door = fn(&ExecutionContext, &Stream<'_>) -> Result<()>;

fn unseen() {
    Bound::bind_unseen(device(1));
}

/// Checks a plan when code between two of its calls leaves another device bound to the thread.
fn elsewhere(on: &Platform) -> Result<(), Failed> {
    let platform = Platform::builder().driver(Arc::new(Bound::new(on.driver().clone())))?;
    for (number, door) in DOORS.into_iter().enumerate() {
        let is_right = within(&platform, move |cx| {
            let stream = stream(cx, "work")?;
            let (mut x, mut y) = (cx.tensor([N], &stream)?, cx.tensor([N / 2 + 1], &stream)?);
            let mut fft = RealFft::plan(N).on(cx, &stream)?;
            stream.launch::<slow_fill>(N, (&mut x, 3.0, 0))?;
            fft.forward(&stream, &x, &mut y)?;
            door(cx, &stream)?;
            fft.forward(&stream, &x, &mut y)?;
            Ok(is_of_constant(cx.download(&y, &stream)?.wait_blocking()?, 3.0))
        });
        let is_right = is_right.map_err(|error| Failed::msg(format!("door {number}: {error}")))?;
        check(is_right, || format!("door {number}: the spectrum is another one"))?;
    }
    Ok(())
}

fn reads_late_data(platform: &Platform) -> Result<bool> {
    within(platform, |cx| {
        let (a, b) = (stream(cx, "a")?, stream(cx, "b")?);
        let (mut x, mut y) = (cx.tensor([N], &a)?, cx.tensor([N / 2 + 1], &b)?);
        let mut fft = RealFft::plan(N).on(cx, &b)?;
        a.launch::<slow_fill>(N, (&mut x, 1.0, 0))?;
        fft.forward(&b, &x, &mut y)?;
        a.synchronize_blocking()?;
        b.synchronize_blocking()?;
        a.launch::<slow_fill>(N, (&mut x, 7.0, SLOW))?;
        fft.forward(&b, &x, &mut y)?;
        Ok(is_of_constant(cx.download(&y, &b)?.wait_blocking()?, 7.0))
    })
}

fn is_read_later(platform: &Platform) -> Result<bool> {
    within(platform, |cx| {
        let (a, b) = (stream(cx, "a")?, stream(cx, "b")?);
        let (mut x, mut half, mut y) =
            (cx.tensor([N], &a)?, cx.tensor([N / 2 + 1], &a)?, cx.tensor([N], &a)?);
        let mut fft = RealFft::plan(N).on(cx, &a)?;
        let mut back = InverseRealFft::plan(N).norm(Norm::ByLength).on(cx, &a)?;
        // Loads both kernels before the slow one is queued, since loading would wait for the device.
        b.launch::<slow_fill>(N, (&mut y, 0.0, 0))?;
        b.launch::<add_one>(N, (&mut y,))?;
        b.synchronize_blocking()?;
        a.launch::<slow_fill>(N, (&mut x, 3.0, SLOW))?;
        fft.forward(&a, &x, &mut half)?;
        back.inverse(&a, &mut half, &mut y)?;
        b.launch::<add_one>(N, (&mut y,))?;
        Ok(cx.download(&y, &b)?.wait_blocking()?.iter().all(|found| (found - 4.0).abs() < 1e-3))
    })
}

fn is_overwritten_later(platform: &Platform) -> Result<bool> {
    within(platform, |cx| {
        let (a, b) = (stream(cx, "a")?, stream(cx, "b")?);
        let (mut x, mut slow, mut y) =
            (cx.tensor([N], &a)?, cx.tensor([N], &a)?, cx.tensor([N / 2 + 1], &a)?);
        let mut fft = RealFft::plan(N).on(cx, &a)?;
        a.launch::<slow_fill>(N, (&mut x, 2.0, 0))?;
        a.launch::<slow_fill>(N, (&mut slow, 0.0, 0))?;
        a.synchronize_blocking()?;
        a.launch::<slow_fill>(N, (&mut slow, 0.0, SLOW))?;
        fft.forward(&a, &x, &mut y)?;
        b.launch::<slow_fill>(N, (&mut x, 9.0, 0))?;
        b.synchronize_blocking()?;
        Ok(is_of_constant(cx.download(&y, &a)?.wait_blocking()?, 2.0))
    })
}

/// Checks two plans on two streams: each transforms the data that the other stream has written.
fn two_plans(platform: &Platform) -> Result<bool> {
    within(platform, |cx| {
        let (a, b) = (stream(cx, "a")?, stream(cx, "b")?);
        let mut plans = [RealFft::plan(N).on(cx, &a)?, RealFft::plan(N).on(cx, &b)?];
        let (mut x, mut z) = (cx.tensor([N], &a)?, cx.tensor([N], &b)?);
        let (mut y, mut w) = (cx.tensor([N / 2 + 1], &a)?, cx.tensor([N / 2 + 1], &b)?);
        let mut right = true;
        for round in 0..3 {
            let value = round as f32;
            a.launch::<slow_fill>(N, (&mut x, 1.0 + value, SLOW))?;
            // `z` is written much later than `x`, so a transform of `z` that does not wait reads old data.
            b.launch::<slow_fill>(N, (&mut z, 5.0 + value, 3 * SLOW))?;
            plans[0].forward(&a, &z, &mut y)?;
            plans[1].forward(&b, &x, &mut w)?;
            let (of_z, of_x) = (cx.download(&y, &a)?, cx.download(&w, &b)?);
            right &= is_of_constant(of_z.wait_blocking()?, 5.0 + value);
            right &= is_of_constant(of_x.wait_blocking()?, 1.0 + value);
        }
        Ok(right)
    })
}

/// An operator that transforms its input with a plan that `start` has made.
#[operator]
struct Transform {
    #[input]
    x: &Tensor<Complex<f64>>,
    #[output]
    y: Tensor<Complex<f64>>,
    fft: Option<Plan<Fft<f64>>>,
}

impl Compute for Transform {
    fn start(&mut self, _: TransformStreams<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.internal_stream()?;
        self.fft = Some(Fft::plan([3, 7]).on(cx, &stream)?);
        Ok(())
    }

    fn compute(&mut self, io: TransformIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (x, stream) = io.x.receive().receive_cuda_stream(cx)?;
        let mut y = cx.tensor(x.shape(), &stream)?;
        let fft = self.fft.as_mut().ok_or(Failure::msg("`start` comes first"))?;
        fft.forward(&stream, x, &mut y)?;
        io.y.emit(y)
    }
}

fn kept(platform: &Platform) -> Result<(), Failed> {
    let mut harness = OperatorHarness::new(platform, Transform::new(None))?;
    for tick in 0..5 {
        let x = complex_numbers(21, tick);
        harness.push(|ports| &mut ports.x, platform.upload(&x)?.reshape([3, 7])?)?;
        check(harness.tick()?, || "the operator was not ready".into())?;
        let y = harness.take(|ports| &mut ports.y).ok_or(Failed::msg("no message was emitted"))?;
        let found = platform.download(&y.message, harness.stream())?.wait_blocking()?.to_vec();
        let wanted = dft(&x, &[3, 7], false);
        let off = found.iter().zip(&wanted).map(|(a, b)| (a - b).norm()).sum::<f64>();
        check(off < 1e-11, || format!("tick {tick}: off by {off}"))?;
    }
    Ok(harness.stop()?)
}

/// Lengths of transforms. On a GPU, cuFFT uses work areas for the long ones, and Bluestein's algorithm for the
/// primes.
const LENGTHS: [usize; 4] = [1031, 1000, 100_003, 1 << 18];

/// Returns sums of a few waves, and their spectrum as known from the amplitudes.
fn waves(n: usize) -> [Vec<Complex<f64>>; 2] {
    let (mut x, mut spectrum) = (vec![Complex::default(); n], vec![Complex::default(); n]);
    for (wave, amplitude) in [(0, 0.5), (1, 2.0), (n / 3, -1.0), (n - 1, 3.0)] {
        spectrum[wave] += amplitude * n as f64;
        for (at, x) in x.iter_mut().enumerate() {
            // The remainder keeps the angle within one turn, so that the angle is exact.
            let turns = (wave * at % n) as f64 / n as f64;
            *x += Complex::cis(std::f64::consts::TAU * turns) * amplitude;
        }
    }
    [x, spectrum]
}

fn poisoned(platform: &Platform) -> Result<(), Failed> {
    let poisons = Arc::new(PoisonsWork::new(platform.driver().clone()));
    let platform = Platform::builder().driver(poisons.clone())?;
    within(&platform, |cx| {
        let s = stream(cx, "a")?;
        for n in LENGTHS {
            let [x, wanted] = waves(n);
            let input = cx.upload(&x)?;
            let mut y = cx.tensor([n], &s)?;
            let mut fft = Fft::<f64>::plan(n).on(cx, &s)?;
            for _ in 0..2 {
                fft.forward(&s, &input, &mut y)?;
                let found = cx.download(&y, &s)?.wait_blocking()?.to_vec();
                let off = found.iter().zip(&wanted).map(|(a, b)| (a - b).norm());
                let off = off.fold(0.0, f64::max) / n as f64;
                check(off < 1e-12, || format!("{n}: off by {off}"))?;
            }
        }
        Ok(())
    })?;
    check(poisons.poisoned() >= 2, || "no work area was overwritten".into())
}

/// Checks that once a plan is warm, only its library calls and launches reach the driver, apart from the calls
/// that bind a device.
fn steady(platform: &Platform) -> Result<(), Failed> {
    let (recorder, platform) = recorded(platform.driver().clone())?;
    within(&platform, move |cx| {
        let s = stream(cx, "a")?;
        let n = LENGTHS[2];
        let mut fft = Fft::<f32>::plan(n).norm(Norm::Unitary).on(cx, &s)?;
        let mut data = cx.tensor([n], &s)?;
        s.fill_bytes(&mut data, 0)?;
        fft.forward_in_place(&s, &mut data)?;
        recorder.clear();
        fft.forward_in_place(&s, &mut data)?;
        fft.inverse_in_place(&s, &mut data)?;
        let is_work = |call: &&Call| !matches!(call, Call::Bind { .. });
        let calls: Vec<_> =
            recorder.calls().iter().filter(is_work).map(ToString::to_string).collect();
        check_equal(calls.len(), 4)?;
        let begins =
            |i: usize, text: &str| check(calls[i].starts_with(text), || format!("{calls:?}"));
        begins(0, "call cufftExecC2C")?;
        begins(1, "launch scale")?;
        begins(2, "call cufftExecC2C")?;
        begins(3, "launch scale")?;
        check_text(&calls[0], &["writes data = ", "writes work area = "])?;
        Ok(())
    })
}

fn dropped(platform: &Platform) -> Result<(), Failed> {
    within(platform, |cx| {
        let (a, b) = (stream(cx, "a")?, stream(cx, "b")?);
        let (mut x, mut y) = (cx.tensor([N], &a)?, cx.tensor([N / 2 + 1], &a)?);
        for round in 0..3 {
            let mut fft = RealFft::plan(N).on(cx, &a)?;
            a.launch::<slow_fill>(N, (&mut x, 1.0 + round as f32, SLOW))?;
            fft.forward(&a, &x, &mut y)?;
            drop(fft);
            // This tensor may get the memory of the dropped plan's work area. The fill must come after the transform.
            let mut others = cx.tensor([8 * N], &b)?;
            b.launch::<slow_fill>(8 * N, (&mut others, 5.0, 0))?;
            let found = cx.download(&y, &a)?;
            let right = is_of_constant(found.wait_blocking()?, 1.0 + round as f32);
            check(right, || format!("round {round}"))?;
        }
        Ok(())
    })
}
