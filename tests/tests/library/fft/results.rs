//! Results of transforms compared with the definition, in `f64`.

use std::f64::consts::TAU;

use streamflow::memory::Complex;
use streamflow::prelude::*;
use streamflow_math::fft::{self, Fft, InverseRealFft, Norm, Planner, RealFft};
use streamflow_tests::{Failed, Suite, check, check_equal};

use super::compare::{close, device, factor, host, reference, tolerance};
use super::dft::{C64, Tested, complex_numbers, dft, numbers};
use super::within::{stream, within};

/// Shapes of 1 to 3 dimensions with lengths of 1, odd lengths, primes, and powers of two.
const SHAPES: &[&[usize]] = &[
    &[1],
    &[2],
    &[7],
    &[15],
    &[64],
    &[97],
    &[210],
    &[4, 6],
    &[5, 7],
    &[1, 9],
    &[6, 1],
    &[3, 4, 5],
    &[2, 1, 7],
    &[8, 4, 2],
];

pub(super) fn add(suite: Suite) -> Suite {
    suite
        .both("transforms_are_those_of_the_definition", |platform| {
            complex::<f32>(platform)?;
            complex::<f64>(platform)
        })
        .both("transforms_of_real_numbers_are_those_of_the_definition", |platform| {
            real::<f32>(platform)?;
            real::<f64>(platform)
        })
        .both("a_batch_of_no_transforms_does_nothing", empty)
        .both("functions_without_a_plan_transform_tensors", stateless)
        .both("functions_of_the_host_transform_numbers_of_the_host", on_host)
        .both("a_transform_of_65536_numbers_is_right", |platform| {
            large::<f32>(platform)?;
            large::<f64>(platform)
        })
}

fn complex<T: Tested>(platform: &Platform) -> Result<(), Failed>
where
    Complex<T>: Element,
{
    within(platform, |cx| {
        let s = stream(cx, "a")?;
        for (i, &lengths) in SHAPES.iter().enumerate() {
            let count: usize = lengths.iter().product();
            let batch = 1 + i % 3;
            let norm = [Norm::None, Norm::ByLength, Norm::Unitary][i / 2 % 3];
            let x = complex_numbers(count * batch, i as u64);
            let mut plan = Fft::<T>::plan(lengths).batch(batch).norm(norm).on(cx, &s)?;
            let input = device::<T>(cx, &x)?;
            for is_inverse in [false, true] {
                let factor = factor(norm, count, is_inverse);
                let wanted = reference(&x, lengths, is_inverse, factor);
                let allowed = tolerance::<T>(count) * factor;
                let mut y = cx.tensor(input.shape(), &s)?;
                let mut data = device::<T>(cx, &x)?;
                if is_inverse {
                    plan.inverse(&s, &input, &mut y)?;
                    plan.inverse_in_place(&s, &mut data)?;
                } else {
                    plan.forward(&s, &input, &mut y)?;
                    plan.forward_in_place(&s, &mut data)?;
                }
                let what = format!("{lengths:?} x {batch}, {norm:?}, inverse: {is_inverse}");
                close(&what, &host(cx, &s, &y)?, &wanted, allowed)?;
                close(&format!("{what}, in place"), &host(cx, &s, &data)?, &wanted, allowed)?;
            }
            close("the input", &host(cx, &s, &input)?, &x, 0.0)?;
        }
        Ok(())
    })
}

/// Returns the first half of each row of a spectrum.
fn halves(spectrum: &[C64], last: usize) -> Vec<C64> {
    spectrum.chunks(last).flat_map(|row| &row[..last / 2 + 1]).copied().collect()
}

fn real<T: Tested>(platform: &Platform) -> Result<(), Failed>
where
    Complex<T>: Element,
{
    within(platform, |cx| {
        let s = stream(cx, "a")?;
        for (i, &lengths) in SHAPES.iter().enumerate() {
            let (count, last) = (lengths.iter().product::<usize>(), lengths[lengths.len() - 1]);
            let batch = 1 + i % 3;
            let norm = [Norm::ByLength, Norm::Unitary][i % 2];
            let what = format!("{lengths:?} x {batch}, {norm:?}");
            let x = numbers(count * batch, i as u64);
            let of_x: Vec<_> = x.iter().map(|&x| C64::new(x, 0.0)).collect();
            let factor = factor(norm, count, false);
            let spectrum = halves(&reference(&of_x, lengths, false, factor), last);
            let allowed = tolerance::<T>(count) * factor;

            let values: Vec<T> = x.iter().map(|&x| T::of(x)).collect();
            let input = cx.upload(&values)?;
            let mut y = cx.tensor([spectrum.len()], &s)?;
            let plan = |of: Planner<RealFft<T>>| of.batch(batch).norm(norm).on(cx, &s);
            plan(RealFft::plan(lengths))?.forward(&s, &input, &mut y)?;
            close(&what, &host(cx, &s, &y)?, &spectrum, allowed)?;

            // The rows are padded so that each has room for its spectrum.
            let row = 2 * (last / 2 + 1);
            let mut pairs = vec![Complex { re: T::of(9.0), im: T::of(9.0) }; spectrum.len()];
            for (at, &value) in values.iter().enumerate() {
                let at = at / last * row + at % last;
                let pair: &mut Complex<T> = &mut pairs[at / 2];
                if at % 2 == 0 { pair.re = value } else { pair.im = value }
            }
            let mut data = cx.upload(&pairs)?;
            plan(RealFft::plan(lengths).in_place())?.forward_in_place(&s, &mut data)?;
            close(&format!("{what}, in place"), &host(cx, &s, &data)?, &spectrum, allowed)?;

            // The inverse transform with each normalisation gives the values back.
            let plan = |of: Planner<InverseRealFft<T>>| of.batch(batch).norm(norm).on(cx, &s);
            let mut back = cx.tensor([values.len()], &s)?;
            plan(InverseRealFft::plan(lengths))?.inverse(&s, &mut y, &mut back)?;
            let allowed = 16.0 * T::EPSILON * (1.0 + (count as f64).log2());
            let found: Vec<_> =
                host(cx, &s, &back)?.iter().map(|&re| Complex { re, im: T::of(0.0) }).collect();
            close(&format!("{what}, inverse"), &found, &of_x, allowed)?;
            plan(InverseRealFft::plan(lengths).in_place())?.inverse_in_place(&s, &mut data)?;
            let pairs = host(cx, &s, &data)?;
            let found: Vec<_> = (0..x.len())
                .map(|at| at / last * row + at % last)
                .map(|at| if at % 2 == 0 { pairs[at / 2].re } else { pairs[at / 2].im })
                .map(|re| Complex { re, im: T::of(0.0) })
                .collect();
            close(&format!("{what}, inverse in place"), &found, &of_x, allowed)?;
        }
        Ok(())
    })
}

fn empty(platform: &Platform) -> Result<(), Failed> {
    within(platform, |cx| {
        let s = stream(cx, "a")?;
        let (x, mut y) = (cx.tensor([0, 8], &s)?, cx.tensor([0, 8], &s)?);
        let plan = Fft::<f32>::plan([8]).norm(Norm::Unitary).batch(0);
        plan.on(cx, &s)?.forward(&s, &x, &mut y)?;
        let (mut x, mut y) = (cx.tensor([0, 5], &s)?, cx.tensor([0, 8], &s)?);
        let plan = InverseRealFft::<f64>::plan([8]).norm(Norm::ByLength).batch(0);
        plan.on(cx, &s)?.inverse(&s, &mut x, &mut y)?;
        Ok(())
    })
}

fn stateless(platform: &Platform) -> Result<(), Failed> {
    within(platform, |cx| {
        let s = stream(cx, "a")?;
        for lengths in [[4, 6], [3, 5], [4, 6]] {
            let count = lengths[0] * lengths[1];
            let x = complex_numbers(count, 3);
            let input = device::<f32>(cx, &x)?.reshape(lengths)?;
            let y = fft::forward(cx, &s, &input)?;
            check_equal(y.shape(), &lengths[..])?;
            let wanted = dft(&x, &lengths, false);
            close("forward", &host(cx, &s, &y)?, &wanted, tolerance::<f32>(count))?;
            let back = fft::inverse(cx, &s, &y, Norm::ByLength)?;
            close("inverse", &host(cx, &s, &back)?, &x, 1e-5)?;

            let reals: Vec<f64> = x.iter().map(|x| x.re).collect();
            let input = cx.upload(&reals)?.reshape(lengths)?;
            let mut y = fft::forward_real(cx, &s, &input)?;
            check_equal(y.shape(), &[lengths[0], lengths[1] / 2 + 1][..])?;
            let back = fft::inverse_real(cx, &s, &mut y, lengths[1], Norm::ByLength)?;
            check_equal(back.shape(), &lengths[..])?;
            let off =
                host(cx, &s, &back)?.iter().zip(&reals).map(|(a, b)| (a - b).abs()).sum::<f64>();
            check(off < 1e-12, || format!("{lengths:?}: off by {off}"))?;
        }
        Ok(())
    })
}

fn on_host(platform: &Platform) -> Result<(), Failed> {
    within(platform, |cx| {
        let x = complex_numbers(12, 8);
        let y = fft::forward_host_blocking(cx, &x, [3, 4])?;
        close("forward", &y, &dft(&x, &[3, 4], false), 1e-13)?;
        let back = fft::inverse_host_blocking(cx, &y, [3, 4], Norm::ByLength)?;
        close("inverse", &back, &x, 1e-13)?;
        Ok(())
    })
}

/// Checks a long transform of a few waves, whose spectrum is known: the amplitudes.
fn large<T: Tested>(platform: &Platform) -> Result<(), Failed>
where
    Complex<T>: Element,
{
    const N: usize = 1 << 16;
    let waves = [(0, 0.25), (1, 0.5), (77, 0.125), (40_000, 1.0), (N - 1, 0.75)];
    // On the simulator only the seeds 0 and 1 run this test, since the host computes the transform for each seed.
    if platform.driver().observer().seed().is_some_and(|seed| seed > 1) {
        return Ok(());
    }
    within(platform, move |cx| {
        let s = stream(cx, "a")?;
        let at = |i: usize| {
            let wave = |(k, size): (usize, f64)| {
                C64::from_polar(size, TAU * (i * k % N) as f64 / N as f64)
            };
            waves.into_iter().map(wave).sum::<C64>()
        };
        let x: Vec<_> = (0..N).map(at).collect();
        let mut wanted = vec![C64::new(0.0, 0.0); N];
        for (k, size) in waves {
            wanted[k] = C64::new(size * N as f64, 0.0);
        }
        let mut data = device::<T>(cx, &x)?;
        Fft::<T>::plan(N).on(cx, &s)?.forward_in_place(&s, &mut data)?;
        // The numbers are up to 2.6, and are rounded to `T`.
        close("65536", &host(cx, &s, &data)?, &wanted, 4.0 * tolerance::<T>(N))?;
        Ok(())
    })
}
