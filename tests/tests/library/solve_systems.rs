//! Systems of equations, checked in `f64` by their residuals.

use num_complex::Complex;
use streamflow::prelude::*;
use streamflow_math::Plan;
use streamflow_math::solve::{self, Checked, Cholesky, Lu};
use streamflow_tests::{Failed, Suite, check};

use super::in_tick::in_tick;
use super::matrices::{
    Number, definite, near, numbers, product, regular, solves, to_f64, transposed, upload,
};

/// Sizes: empty, one, even, odd, prime and large.
const SIZES: [usize; 7] = [0, 1, 2, 9, 31, 64, 128];

pub(crate) fn add(suite: Suite) -> Suite {
    suite
        .both("lu_solves_systems_of_each_type", systems)
        .both("lu_solves_complex_systems", complex_systems)
        .both("lu_takes_batches_of_each_type", lu_batches)
        .both("cholesky_solves_and_rebuilds", cholesky)
        .both("cholesky_takes_batches", batches)
}

fn systems(platform: &Platform) -> Result<(), Failed> {
    in_tick(platform, |cx, stream, _| {
        systems_of::<f32>(cx, stream)?;
        systems_of::<f64>(cx, stream)
    })
}

fn systems_of<T: Number>(cx: &ExecutionContext, stream: &Stream<'_>) -> Result<()> {
    for n in SIZES {
        let a = regular::<T>(n, n as u64);
        let on_device = upload(cx, &a, &[n, n])?;
        for sides in [None, Some(1), Some(3), Some(0)] {
            let plan = Lu::plan(n);
            let (mut plan, shape): (Plan<Lu<T>>, &[usize]) = match sides {
                None => (plan.on(cx, stream)?, &[n]),
                Some(k) => (plan.right_hand_sides(k).on(cx, stream)?, &[k, n]),
            };
            let b = numbers::<T>(n * sides.unwrap_or(1), 7);
            let mut x = Checked::new(cx.tensor(shape, stream)?, cx, stream)?;
            plan.solve(stream, &on_device, &upload(cx, &b, shape)?, &mut x)?;
            solves(n, &a, &b, x.download(stream)?.wait_blocking()?)?;
        }
    }
    Ok(())
}

fn complex_systems(platform: &Platform) -> Result<(), Failed> {
    in_tick(platform, |cx, stream, _| {
        for n in [1, 2, 31, 64] {
            let re = regular::<f64>(n, 1);
            let im = numbers::<f64>(n * n, 2);
            let a: Vec<_> = re.iter().zip(&im).map(|(&re, &im)| Complex::new(re, im)).collect();
            let x: Vec<_> =
                numbers::<f64>(n, 3).iter().map(|&v| Complex::new(v, 1.0 - v)).collect();
            let b: Vec<Complex<f64>> = (0..n)
                .map(|row| a[row * n..(row + 1) * n].iter().zip(&x).map(|(a, x)| a * x).sum())
                .collect();
            let (wide_a, wide_b) = (upload(cx, &a, &[n, n])?, upload(cx, &b, &[n])?);
            let found = solve::solve(cx, stream, &wide_a, &wide_b)?.download(stream)?;
            for (found, x) in found.wait_blocking()?.iter().zip(&x) {
                check((found - x).norm() < 1e-10 * n as f64, || format!("{n}: {found}, not {x}"))?;
            }
            let single = |v: &Complex<f64>| Complex::new(v.re as f32, v.im as f32);
            let (a, b): (Vec<_>, Vec<_>) =
                (a.iter().map(single).collect(), b.iter().map(single).collect());
            let (a, b) = (upload(cx, &a, &[n, n])?, upload(cx, &b, &[n])?);
            let found = solve::solve(cx, stream, &a, &b)?.download(stream)?;
            for (found, x) in found.wait_blocking()?.iter().zip(&x) {
                let off = (found - single(x)).norm();
                check(off < 1e-4 * n as f32, || format!("{n}: {found}, not {x}"))?;
            }
        }
        Ok(())
    })
}

/// The number of matrices and their size: empty, one, odd, prime, longer, and many.
const BATCHES: [(usize, usize); 7] = [(0, 3), (3, 0), (1, 5), (7, 1), (5, 17), (2, 41), (300, 4)];

fn lu_batches(platform: &Platform) -> Result<(), Failed> {
    in_tick(platform, |cx, stream, _| {
        lu_batches_of::<f32>(cx, stream)?;
        lu_batches_of::<f64>(cx, stream)?;
        complex_batches(cx, stream)
    })
}

fn lu_batches_of<T: Number>(cx: &ExecutionContext, stream: &Stream<'_>) -> Result<()> {
    for (count, n) in BATCHES {
        let a: Vec<T> = (0..count).flat_map(|i| regular::<T>(n, i as u64)).collect();
        let b = numbers::<T>(count * n, 9);
        let (matrices, sides) = (upload(cx, &a, &[count, n, n])?, upload(cx, &b, &[count, n])?);
        let mut plan = Lu::plan(n).batch(count).on(cx, stream)?;
        let mut x = Checked::of_batch(count, cx.tensor([count, n], stream)?, cx, stream)?;
        // The second execution overwrites the result of the first.
        for _ in 0..2 {
            plan.solve(stream, &matrices, &sides, &mut x)?;
        }
        let mut kept = plan.factor(stream, &matrices)?;
        let mut y = Checked::of_batch(count, cx.tensor([count, n], stream)?, cx, stream)?;
        kept.solve(stream, &sides, &mut y)?;
        let (x, y) = (x.download(stream)?, y.download(stream)?);
        check(x.wait_blocking()? == y.wait_blocking()?, || "factors that are kept".into())?;
        for i in 0..count {
            let (square, line) = (i * n * n..(i + 1) * n * n, i * n..(i + 1) * n);
            solves(n, &a[square], &b[line.clone()], &x.wait_blocking()?[line])?;
        }
    }
    Ok(())
}

fn complex_batches(cx: &ExecutionContext, stream: &Stream<'_>) -> Result<()> {
    let (count, n) = (3, 5);
    let turn = Complex::new(0.6, -0.8);
    let a: Vec<f64> = (0..count).flat_map(|i| regular::<f64>(n, i as u64)).collect();
    let b = numbers::<f64>(count * n, 4);
    let turned: Vec<_> = a.iter().map(|&value| turn * value).collect();
    let sides: Vec<_> = b.iter().map(|&value| turn * value).collect();
    let found = solve::solve(
        cx,
        stream,
        &upload(cx, &turned, &[count, n, n])?,
        &upload(cx, &sides, &[count, n])?,
    )?;
    let single = |values: &[Complex<f64>]| -> Vec<Complex<f32>> {
        values.iter().map(|it| Complex::new(it.re as f32, it.im as f32)).collect()
    };
    let small = solve::solve(
        cx,
        stream,
        &upload(cx, &single(&turned), &[count, n, n])?,
        &upload(cx, &single(&sides), &[count, n])?,
    )?;
    let (found, small) = (found.download(stream)?, small.download(stream)?);
    let (found, small) = (found.wait_blocking()?, small.wait_blocking()?);
    let imaginary: Vec<f64> = found.iter().map(|it| it.im).collect();
    near("the imaginary parts", &imaginary, &vec![0.0; count * n], 1e-13)?;
    for (i, (found, small)) in found.chunks_exact(n).zip(small.chunks_exact(n)).enumerate() {
        let real: Vec<f64> = found.iter().map(|it| it.re).collect();
        solves(n, &a[i * n * n..(i + 1) * n * n], &b[i * n..(i + 1) * n], &real)?;
        let small: Vec<f64> = small.iter().map(|it| f64::from(it.re)).collect();
        near("in f32", &small, &real, 1e-5)?;
    }
    Ok(())
}

fn cholesky(platform: &Platform) -> Result<(), Failed> {
    in_tick(platform, |cx, stream, _| {
        cholesky_of::<f32>(cx, stream)?;
        cholesky_of::<f64>(cx, stream)
    })
}

fn cholesky_of<T: Number + solve::Real>(cx: &ExecutionContext, stream: &Stream<'_>) -> Result<()> {
    for n in SIZES {
        let definite = definite::<T>(n, n as u64);
        // The elements above the diagonal are not read, so they may be NaN.
        let mut lower = definite.clone();
        (0..n).for_each(|i| (i + 1..n).for_each(|j| lower[i * n + j] = T::of(f64::NAN)));
        let a = upload(cx, &lower, &[n, n])?;
        let mut plan = Cholesky::plan(n).right_hand_sides(2).on(cx, stream)?;
        let b = numbers::<T>(2 * n, 5);
        let mut x = Checked::new(cx.tensor([2, n], stream)?, cx, stream)?;
        plan.solve(stream, &a, &upload(cx, &b, &[2, n])?, &mut x)?;
        let download = x.download(stream)?;
        let scaled: Vec<T> = definite.iter().map(|&v| T::of(v.into())).collect();
        let found: Vec<f64> = to_f64(download.wait_blocking()?);
        for (b, x) in b.chunks_exact(n.max(1)).zip(found.chunks_exact(n.max(1))) {
            let rebuilt = product((n, n, 1), &to_f64(&scaled), x);
            near("A x", &rebuilt, &to_f64(b), 60.0 * (n + 1) as f64 * T::EPSILON)?;
        }

        let mut l = Checked::new(upload(cx, &definite, &[n, n])?, cx, stream)?;
        plan.factor_in_place(stream, &mut l)?;
        let mut l = to_f64(l.download(stream)?.wait_blocking()?);
        for (at, value) in l.iter_mut().enumerate() {
            if at % n > at / n {
                let above = definite[at].into();
                check(*value == above, || format!("{value} above the diagonal, not {above}"))?;
                *value = 0.0;
            }
        }
        let rebuilt = product((n, n, n), &l, &transposed((n, n), &l));
        near("L LT", &rebuilt, &to_f64(&definite), 20.0 * (n * n + 1) as f64 * T::EPSILON)?;
    }
    Ok(())
}

fn batches(platform: &Platform) -> Result<(), Failed> {
    in_tick(platform, |cx, stream, _| {
        for (count, n) in [(0, 3), (1, 5), (7, 1), (5, 17), (3, 0)] {
            let a: Vec<f32> = (0..count).flat_map(|i| definite::<f32>(n, i as u64)).collect();
            let b = numbers::<f32>(count * n, 9);
            let (shape, sides) = ([count, n, n], [count, n]);
            let mut plan = Cholesky::plan(n).batch(count).on(cx, stream)?;
            let mut x = Checked::of_batch(count, cx.tensor(sides, stream)?, cx, stream)?;
            plan.solve(stream, &upload(cx, &a, &shape)?, &upload(cx, &b, &sides)?, &mut x)?;
            let download = x.download(stream)?;
            let x = download.wait_blocking()?;
            let mut l = Checked::of_batch(count, upload(cx, &a, &shape)?, cx, stream)?;
            plan.factor_in_place(stream, &mut l)?;
            let l = l.download(stream)?;
            let l = l.wait_blocking()?;
            for i in 0..count {
                let (matrix, side) = (i * n * n..(i + 1) * n * n, i * n..(i + 1) * n);
                solves(n, &a[matrix.clone()], &b[side.clone()], &x[side])?;
                let mut one = Checked::new(upload(cx, &a[matrix.clone()], &[n, n])?, cx, stream)?;
                Cholesky::plan(n).on(cx, stream)?.factor_in_place(stream, &mut one)?;
                let one = to_f64(one.download(stream)?.wait_blocking()?);
                near("a factor of a batch", &to_f64(&l[matrix]), &one, 1e-4)?;
            }
        }
        Ok(())
    })
}
