//! Random operands of cuBLAS, cuBLASLt, cuSPARSE and the random number generators.

use streamflow::prelude::*;
use streamflow_math::matmul::{Blas, Matmul, Triangle};
use streamflow_math::random::Philox;
use streamflow_math::sparse::{self, Csr};
use streamflow_tests::check;

use super::super::matrices::to_f64;
use super::{Real, Setting, Try, are_finite, sums};

pub(super) fn functions<T: Real>() -> Vec<(&'static str, Try)> {
    vec![
        ("axpy", axpy::<T>),
        ("dot and norm", dot_and_norm::<T>),
        ("gemv", gemv::<T>),
        ("trsm", trsm::<T>),
        ("syrk", syrk::<T>),
        ("a product", product::<T>),
        ("a product of halves of one tensor", halves::<T>),
        ("spmv and spmm", sparse::<T>),
        ("random numbers", random::<T>),
    ]
}

fn axpy<T: Real>(it: &mut Setting<'_, '_>) -> Result<()> {
    let n = it.length();
    let (alpha, x, before) = (it.number::<T>(), it.numbers::<T>(n), it.numbers::<T>(n));
    let (a, mut y) = (it.upload(&x, &[n])?, it.upload(&before, &[n])?);
    Blas::on(it.cx, it.stream)?.axpy(it.stream, alpha, &a, &mut y)?;
    let found = it.stream.download_blocking(&y)?;
    let (alpha, x, before) = (alpha.into(), to_f64(&x), to_f64(&before));
    sums(&found, (0..n).map(|i| vec![(alpha, x[i]), (1.0, before[i])]))
}

fn dot_and_norm<T: Real>(it: &mut Setting<'_, '_>) -> Result<()> {
    let n = it.length();
    let (x, y) = (it.numbers::<T>(n), it.numbers::<T>(n));
    let (a, b) = (it.upload(&x, &[n])?, it.upload(&y, &[n])?);
    let (mut dot, mut norm) = (it.cx.buffer::<T>(1, it.stream)?, it.cx.buffer::<T>(1, it.stream)?);
    let mut blas = Blas::on(it.cx, it.stream)?;
    blas.dot(it.stream, &a, &b, &mut dot)?;
    blas.norm(it.stream, &a, &mut norm)?;
    let (dot, norm) = (it.stream.download_blocking(&dot)?, it.stream.download_blocking(&norm)?);
    let (x, y) = (to_f64(&x), to_f64(&y));
    sums(&dot, std::iter::once(x.iter().copied().zip(y).collect()))?;
    let most = x.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
    let wanted = most * x.iter().map(|x| (x / most).powi(2)).sum::<f64>().sqrt();
    if x.iter().all(|x| x.is_finite()) && most > 0.0 && wanted <= T::MOST / 2.0 {
        let norm: f64 = norm[0].into();
        let tolerance = 16.0 * (T::EPSILON * wanted + T::LEAST * T::EPSILON);
        check((norm - wanted).abs() <= tolerance, || format!("the norm is {norm:e} of {x:?}"))?;
    }
    Ok(())
}

fn gemv<T: Real>(it: &mut Setting<'_, '_>) -> Result<()> {
    let (m, n) = (it.length(), it.length().max(1));
    let (a, x, before) = (it.numbers::<T>(m * n), it.numbers::<T>(n), it.numbers::<T>(m));
    // These factors cause no rounding, so it does not matter whether a sum or each of its terms is multiplied.
    let alpha: T = T::rounded([1.0, -1.0, 2.0][it.random.below(3)]);
    let beta = [it.number(), T::rounded(0.0)][it.random.below(2)];
    let (matrix, vector) = (it.upload(&a, &[m, n])?, it.upload(&x, &[n])?);
    let mut y = it.upload(&before, &[m])?;
    let operands = (alpha, &matrix, &*vector);
    Blas::on(it.cx, it.stream)?.gemv(it.stream, operands, (beta, &mut y))?;
    let found = it.stream.download_blocking(&y)?;
    let (alpha, beta): (f64, f64) = (alpha.into(), beta.into());
    let (a, x, before) = (to_f64(&a), to_f64(&x), to_f64(&before));
    sums(
        &found,
        (0..m).map(|row| {
            let terms = (0..n).map(|k| (alpha * a[row * n + k], x[k]));
            terms.chain((beta != 0.0).then_some((beta, before[row]))).collect()
        }),
    )
}

fn trsm<T: Real>(it: &mut Setting<'_, '_>) -> Result<()> {
    let (n, columns) = (it.length(), it.length());
    let (a, b) = (it.numbers::<T>(n * n), it.numbers::<T>(n * columns));
    let (is_lower, alpha) = (it.random.below(2) == 0, T::rounded(1.0));
    let (matrix, mut x) = (it.upload(&a, &[n, n])?, it.upload(&b, &[n, columns])?);
    let triangle = if is_lower { Triangle::Lower } else { Triangle::Upper };
    Blas::on(it.cx, it.stream)?.trsm(it.stream, (alpha, &matrix, triangle), &mut x)?;
    let found = it.stream.download_blocking(&x)?;
    if !are_finite(&found) || !are_finite(&a) || !are_finite(&b) {
        return Ok(());
    }
    let (a, b, x) = (to_f64(&a), to_f64(&b), to_f64(&found));
    for row in 0..n {
        for column in 0..columns {
            let taken = if is_lower { 0..row + 1 } else { row..n };
            let terms = || taken.clone().map(|k| a[row * n + k] * x[k * columns + column]);
            let (sum, wanted) = (terms().sum::<f64>(), b[row * columns + column]);
            let size = terms().map(f64::abs).sum::<f64>() + wanted.abs();
            // An element of the solution that is too small for `T` is off by `T::LEAST`.
            let rounded = taken.clone().map(|k| a[row * n + k].abs()).sum::<f64>() * T::LEAST;
            if size > T::MOST / 8.0 {
                continue;
            }
            let tolerance = 16.0 * (n + 1) as f64 * (T::EPSILON * size + rounded + T::LEAST);
            check((sum - wanted).abs() <= tolerance, || {
                format!("row {row} of the triangle gives {sum:e}, and not {wanted:e}: {a:?}, {x:?}")
            })?;
        }
    }
    Ok(())
}

fn syrk<T: Real>(it: &mut Setting<'_, '_>) -> Result<()> {
    let (n, k) = (it.length(), it.length().max(1));
    let (a, before) = (it.numbers::<T>(n * k), it.numbers::<T>(n * n));
    let (matrix, mut c) = (it.upload(&a, &[n, k])?, it.upload(&before, &[n, n])?);
    let beta = [it.number(), T::rounded(0.0)][it.random.below(2)];
    let target = (beta, &mut c, Triangle::Lower);
    Blas::on(it.cx, it.stream)?.syrk(it.stream, (T::rounded(1.0), &matrix), target)?;
    let found = it.stream.download_blocking(&c)?;
    let (a, before, beta): (_, _, f64) = (to_f64(&a), to_f64(&before), beta.into());
    sums(
        &found,
        (0..n * n).map(|at| {
            let (row, column) = (at / n, at % n);
            if column > row {
                return vec![(1.0, before[at])];
            }
            let terms = (0..k).map(|i| (a[row * k + i], a[column * k + i]));
            terms.chain((beta != 0.0).then_some((beta, before[at]))).collect()
        }),
    )
}

fn product<T: Real>(it: &mut Setting<'_, '_>) -> Result<()> {
    let (m, n, k, batch) = (it.length(), it.length(), it.length().max(1), it.random.below(4));
    let (a, b) = (it.numbers::<T>(batch * m * k), it.numbers::<T>(k * n));
    let (left, right) = (it.upload(&a, &[batch, m, k])?, it.upload(&b, &[k, n])?);
    let mut c = it.cx.tensor::<T>([batch, m, n], it.stream)?;
    let mut plan = Matmul::<T>::plan(m, n, k).batch(batch).share_b().on(it.cx, it.stream)?;
    plan.execute(it.stream, &left, &right, &mut c)?;
    let found = it.stream.download_blocking(&c)?;
    let (a, b) = (to_f64(&a), to_f64(&b));
    sums(
        &found,
        (0..batch * m * n).map(|at| {
            let (row, column) = (at / n, at % n);
            (0..k).map(|i| (a[row * k + i], b[i * n + column])).collect()
        }),
    )
}

/// Tries products whose first factor and result are views with interleaved rows.
fn halves<T: Real>(it: &mut Setting<'_, '_>) -> Result<()> {
    let [m, n, k] = [(); 3].map(|()| it.length().max(1));
    let (both, b) = (it.numbers::<T>(m * (k + n)), it.numbers::<T>(k * n));
    let (mut tensor, right) = (it.upload(&both, &[m, k + n])?, it.upload(&b, &[k, n])?);
    let plan = Matmul::<T>::plan(m, n, k).leading_dimensions([k + n, n, k + n]).unaligned();
    let mut plan = plan.on(it.cx, it.stream)?;
    let halves = tensor.view_mut().split_at(1, k);
    let (left, mut target) = halves.ok_or_else(|| Failure::msg("there are two halves"))?;
    plan.execute(it.stream, &left.as_view(), &right, &mut target)?;
    let found = it.stream.download_blocking(&tensor)?;
    let (a, b) = (to_f64(&both), to_f64(&b));
    sums(
        &found,
        (0..m * (k + n)).map(|at| {
            let (row, column) = (at / (k + n), at % (k + n));
            if column < k {
                return vec![(1.0, a[at])];
            }
            (0..k).map(|i| (a[row * (k + n) + i], b[i * n + column - k])).collect()
        }),
    )
}

fn sparse<T: Real>(it: &mut Setting<'_, '_>) -> Result<()> {
    let (m, n, k) = (it.length(), it.length(), it.length());
    let (mut offsets, mut columns) = (vec![0], Vec::new());
    for _ in 0..m {
        let stored = if n == 0 { 0 } else { it.random.below(4) };
        columns.extend((0..stored).map(|_| it.random.below(n) as i32));
        offsets.push(columns.len() as i32);
    }
    let (values, b) = (it.numbers::<T>(columns.len()), it.numbers::<T>(n * k));
    let a = Csr::upload(it.cx, [m, n], &offsets, &columns, &values)?;
    let c = sparse::spmm(it.cx, it.stream, &a, &it.upload(&b, &[n, k])?)?;
    let found = it.stream.download_blocking(&c)?;
    let (values, b) = (to_f64(&values), to_f64(&b));
    let terms = |row: usize, column: usize| {
        let range = offsets[row] as usize..offsets[row + 1] as usize;
        range.map(|at| (values[at], b[columns[at] as usize * k + column])).collect()
    };
    sums(&found, (0..m * k).map(|at| terms(at / k, at % k)))?;
    if k > 0 {
        let first: Vec<T> = (0..n).map(|row| T::rounded(b[row * k])).collect();
        let y = sparse::spmv(it.cx, it.stream, &a, &it.upload(&first, &[n])?)?;
        sums(&it.stream.download_blocking(&y)?, (0..m).map(|row| terms(row, 0)))?;
    }
    Ok(())
}

fn random<T: Real>(it: &mut Setting<'_, '_>) -> Result<()> {
    let mut large = || {
        let near = it.random.below(9) as u64;
        [near, u64::MAX - near, (1 << 63) - 4 + near, it.random.bits()][it.random.below(4)]
    };
    let mut philox = Philox::<T>::new(large()).at(large()).skip(large());
    let n = it.length();
    let mut out = it.cx.buffer::<T>(n, it.stream)?;
    philox.uniform(it.stream, &mut out)?;
    let found = to_f64(&it.stream.download_blocking(&out)?);
    check(found.iter().all(|&x| 0.0 < x && x <= 1.0), || format!("uniform: {found:?}"))?;
    let (mean, deviation) = (it.number::<T>(), it.number::<T>());
    let drawn = philox.normal(it.stream, &mut out, mean, deviation);
    if drawn.is_err() {
        // The failed call has left the uniform numbers in place.
        out.assume_written();
    }
    let (mean, deviation): (f64, f64) = (mean.into(), deviation.into());
    let is_right = mean.is_finite() && deviation.is_finite() && deviation >= 0.0;
    check(drawn.is_ok() == is_right || n == 0, || format!("{mean:e}, {deviation:e}: {drawn:?}"))?;
    let found = to_f64(&it.stream.download_blocking(&out)?);
    let is_near = |&x: &f64| (x - mean).abs() <= 10.0 * deviation + T::EPSILON * mean.abs();
    if drawn.is_ok() && mean.abs() + 10.0 * deviation < T::MOST {
        check(found.iter().all(is_near), || {
            format!("normal: {found:?} of {mean:e}, {deviation:e}")
        })?;
    }
    Ok(())
}
