//! Random operands of cuFFT.

use std::f64::consts::TAU;

use streamflow::memory::Complex;
use streamflow::prelude::*;
use streamflow_math::fft::{Fft, InverseRealFft, Layout, Norm, RealFft};
use streamflow_tests::check;

use super::super::matrices::to_f64;
use super::{Real, Setting, Try};

pub(super) fn functions<T: Real>() -> Vec<(&'static str, Try)>
where
    Complex<T>: Element,
{
    vec![
        ("complex transforms", complex::<T>),
        ("real transforms", real::<T>),
        ("transforms of a space", space::<T>),
    ]
}

fn pairs<T: Real>(it: &mut Setting<'_, '_>, count: usize) -> Vec<Complex<T>> {
    (0..count).map(|_| Complex::new(it.number(), it.number())).collect()
}

/// Returns whether `T` can represent all sums of these numbers, including the sums within a longer transform.
fn have_sums<T: Real>(x: &[Complex<f64>]) -> bool {
    let size: f64 = x.iter().map(|x| x.re.abs() + x.im.abs()).sum();
    size * (16 * x.len() + 1) as f64 <= T::MOST
}

fn wide<T: Real>(x: &[Complex<T>]) -> Vec<Complex<f64>> {
    x.iter().map(|x| Complex::new(x.re.into(), x.im.into())).collect()
}

/// Checks the forward transform of a line against the definition.
fn is_transform<T: Real>(x: &[Complex<f64>], found: &[Complex<f64>]) -> Result<()> {
    if !have_sums::<T>(x) {
        return Ok(());
    }
    let n = x.len();
    let size: f64 = x.iter().map(|x| x.re.abs() + x.im.abs()).sum();
    let tolerance = 64.0 * (T::EPSILON * size + n as f64 * T::LEAST);
    for (k, found) in found.iter().enumerate() {
        let term = |(j, x): (usize, &Complex<f64>)| {
            x * Complex::from_polar(1.0, -TAU * ((j * k) % n) as f64 / n as f64)
        };
        let wanted: Complex<f64> = x.iter().enumerate().map(term).sum();
        let off = (found - wanted).norm();
        check(off <= tolerance, || format!("element {k} is {found}, and not {wanted}, of {x:?}"))?;
    }
    Ok(())
}

fn complex<T: Real>(it: &mut Setting<'_, '_>) -> Result<()>
where
    Complex<T>: Element,
{
    let (n, batch, stride) = (1 + it.random.below(41), it.random.below(4), 1 + it.random.below(5));
    let x = pairs::<T>(it, batch * n * stride);
    let input = it.upload(&x, &[batch * n * stride])?;
    let layout = Layout::embedded([n]).stride(stride);
    let mut there = Fft::<T>::plan(n).batch(batch).input(layout).on(it.cx, it.stream)?;
    let mut y = it.cx.buffer(batch * n, it.stream)?;
    there.forward(it.stream, &input, &mut y)?;
    let found = wide(&it.stream.download_blocking(&y)?);
    let lines: Vec<_> = wide(&x).into_iter().step_by(stride).collect();
    let each = lines.chunks_exact(n).zip(found.chunks_exact(n));
    each.clone().try_for_each(|(x, found)| is_transform::<T>(x, found))?;
    let plan = Fft::<T>::plan(n).batch(batch).norm(Norm::ByLength);
    let mut back = it.cx.buffer(batch * n, it.stream)?;
    plan.on(it.cx, it.stream)?.inverse(it.stream, &y, &mut back)?;
    let back = wide(&it.stream.download_blocking(&back)?);
    for ((x, _), back) in each.zip(back.chunks_exact(n)) {
        is_back::<T>(x, back)?;
    }
    Ok(())
}

/// Checks the result of a transform followed by its inverse.
fn is_back<T: Real>(x: &[Complex<f64>], back: &[Complex<f64>]) -> Result<()> {
    if !have_sums::<T>(x) {
        return Ok(());
    }
    let size: f64 = x.iter().map(|x| x.re.abs() + x.im.abs()).sum();
    let tolerance = 256.0 * (T::EPSILON * size + x.len() as f64 * T::LEAST);
    for (x, back) in x.iter().zip(back) {
        check((x - back).norm() <= tolerance, || format!("{x} has become {back}"))?;
    }
    Ok(())
}

fn real<T: Real>(it: &mut Setting<'_, '_>) -> Result<()>
where
    Complex<T>: Element,
{
    let (n, batch) = (1 + it.random.below(41), it.random.below(4));
    let x = it.numbers::<T>(batch * n);
    let mut y = it.cx.buffer(batch * (n / 2 + 1), it.stream)?;
    let mut there = RealFft::<T>::plan(n).batch(batch).on(it.cx, it.stream)?;
    there.forward(it.stream, &it.upload(&x, &[batch * n])?, &mut y)?;
    let found = wide(&it.stream.download_blocking(&y)?);
    let x: Vec<Complex<f64>> = to_f64(&x).into_iter().map(Complex::from).collect();
    let lines = x.chunks_exact(n);
    lines
        .clone()
        .zip(found.chunks_exact(n / 2 + 1))
        .try_for_each(|(x, y)| is_transform::<T>(x, y))?;
    let plan = InverseRealFft::<T>::plan(n).batch(batch).norm(Norm::ByLength);
    let mut back = it.cx.buffer::<T>(batch * n, it.stream)?;
    plan.on(it.cx, it.stream)?.inverse(it.stream, &mut y, &mut back)?;
    let back = to_f64(&it.stream.download_blocking(&back)?);
    let back: Vec<Complex<f64>> = back.into_iter().map(Complex::from).collect();
    lines.zip(back.chunks_exact(n)).try_for_each(|(x, back)| is_back::<T>(x, back))
}

fn space<T: Real>(it: &mut Setting<'_, '_>) -> Result<()>
where
    Complex<T>: Element,
{
    let shape = [(); 3].map(|()| it.length().max(1));
    let count = shape.iter().product();
    let x = pairs::<T>(it, count);
    let y = streamflow_math::fft::forward(it.cx, it.stream, &it.upload(&x, &shape)?)?;
    let back = streamflow_math::fft::inverse(it.cx, it.stream, &y, Norm::ByLength)?;
    is_back::<T>(&wide(&x), &wide(&it.stream.download_blocking(&back)?))
}
