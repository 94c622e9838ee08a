//! Random operands of cuSOLVER.

use streamflow::memory::CopySource;
use streamflow::prelude::*;
use streamflow_math::solve::{self, Checked};
use streamflow_tests::check;

use super::super::in_tick::is_unsolvable;
use super::super::matrices::{near, product, to_f64, transposed};
use super::{Kind, Real, Setting, Try, are_finite};

pub(super) fn functions<T: Real>() -> Vec<(&'static str, Try)> {
    vec![
        ("LU", lu::<T>),
        ("Cholesky", cholesky::<T>),
        ("QR", qr::<T>),
        ("SVD", svd::<T>),
        ("eigenvalues", eigen::<T>),
    ]
}

/// Returns a part of a result, or `None` if the device has found that there is no result, as the documentation
/// says.
fn opened<T: Real, V, S: CopySource<T> + ?Sized>(
    it: &Setting<'_, '_>,
    result: &Checked<V>,
    part: impl FnOnce(&V) -> &S,
) -> Result<Option<Vec<T>>> {
    match result.download_of(part, it.stream)?.wait_blocking() {
        Ok(values) => Ok(Some(values.to_vec())),
        Err(error) if is_unsolvable(&error) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Returns the values divided by a power of 2, so that their products don't overflow. All values are finite.
fn smaller(values: &[f64], most: f64) -> Vec<f64> {
    let exponent = if most > 0.0 { most.log2().floor() as i32 } else { 0 };
    let half = exponent / 2;
    values.iter().map(|x| x * 2_f64.powi(-half) * 2_f64.powi(half - exponent)).collect()
}

fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |most, x| most.max(x.abs()))
}

/// Checks a solution, if the system and the solution are finite.
fn solves<T: Real>(n: usize, a: &[T], b: &[T], x: &[T]) -> Result<()> {
    if !are_finite(a) || !are_finite(b) || !are_finite(x) {
        return Ok(());
    }
    let (a, b, x) = (to_f64(a), to_f64(b), to_f64(x));
    let sizes = (largest(&a), largest(&b), largest(&x));
    let size = n as f64 * (sizes.0 * sizes.2) + sizes.1;
    // Pivoting lets an element grow to 2^n times its size at most. If that overflows, a pivot is infinite, and a
    // division by it gives 0.
    if size > T::MOST / 8.0 || sizes.0 > T::MOST / 2_f64.powi(n as i32 + 1) {
        return Ok(());
    }
    // Each element of the factors and of the solution is rounded by a fraction of itself, or, if it is small, to a
    // multiple of the least number.
    let of_factors = n as f64 * T::LEAST * T::EPSILON * sizes.2;
    let rounded = T::EPSILON * size + (sizes.0 + 1.0) * T::LEAST + of_factors;
    let tolerance = 2_f64.powi(n as i32 + 4) * (n + 1) as f64 * rounded;
    let of = format!("A x of A {a:?}, b {b:?}, x {x:?}");
    near(&of, &product((n, n, 1), &a, &x), &b, tolerance)
}

fn lu<T: Real>(it: &mut Setting<'_, '_>) -> Result<()> {
    let (n, batch) = (it.length(), it.random.below(4));
    let (a, b) = (it.numbers::<T>(batch * n * n), it.numbers::<T>(batch * n));
    let (matrices, sides) = (it.upload(&a, &[batch, n, n])?, it.upload(&b, &[batch, n])?);
    let x = solve::solve(it.cx, it.stream, &matrices, &sides)?;
    if let Some(x) = opened(it, &x, |x| x)? {
        let each = a.chunks_exact((n * n).max(1)).zip(b.chunks_exact(n.max(1)));
        each.zip(x.chunks_exact(n.max(1))).try_for_each(|((a, b), x)| solves(n, a, b, x))?;
    }
    if batch > 0 {
        let (a, b) = (&a[..n * n], &b[..n]);
        let x = solve::solve(it.cx, it.stream, &it.upload(a, &[n, n])?, &it.upload(b, &[n])?)?;
        if let Some(x) = opened(it, &x, |x| x)? {
            solves(n, a, b, &x)?;
        }
    }
    Ok(())
}

fn cholesky<T: Real>(it: &mut Setting<'_, '_>) -> Result<()> {
    let (n, batch) = (it.length(), it.random.below(3));
    let (mut a, b) = (it.numbers::<T>(batch * n * n), it.numbers::<T>(batch * n));
    for a in a.chunks_exact_mut((n * n).max(1)) {
        (0..n * n).for_each(|at| a[at] = a[(at / n).max(at % n) * n + (at / n).min(at % n)]);
        // With this diagonal, most matrices are positive definite.
        let sum: f64 = a.iter().map(|&x| Into::<f64>::into(x).abs()).sum();
        (0..n).for_each(|i| a[i * n + i] = T::rounded(sum * 1.5));
    }
    let (matrices, sides) = (it.upload(&a, &[batch, n, n])?, it.upload(&b, &[batch, n])?);
    let x = solve::solve_positive_definite(it.cx, it.stream, &matrices, &sides)?;
    let solved = opened(it, &x, |x| x)?;
    if let Some(x) = &solved {
        let each = a.chunks_exact((n * n).max(1)).zip(b.chunks_exact(n.max(1)));
        each.zip(x.chunks_exact(n.max(1))).try_for_each(|((a, b), x)| solves(n, a, b, x))?;
    }
    check(solved.is_some() || it.kind != Kind::Moderate, || format!("no solution of {a:?}"))?;
    if batch > 0 {
        let factor = solve::cholesky(it.cx, it.stream, &it.upload(&a[..n * n], &[n, n])?)?;
        opened(it, &factor, |l| l)?;
    }
    Ok(())
}

/// Checks that the columns of a row-major matrix are orthonormal.
fn orthonormal<T: Real>(what: &str, (m, n): (usize, usize), a: &[f64]) -> Result<()> {
    let gram = product((n, m, n), &transposed((m, n), a), a);
    let identity: Vec<f64> = (0..n * n).map(|at| f64::from(at / n == at % n)).collect();
    near(what, &gram, &identity, 64.0 * (m * n + 1) as f64 * T::EPSILON)
}

/// Returns the error, relative to `most`, of a product of `m` by `n` elements whose factors are rounded to `T`: a
/// fraction of the number, or the least number if the number is small.
fn rounding<T: Real>((m, n): (usize, usize), most: f64) -> f64 {
    let least = if most > 0.0 { T::LEAST / most * T::EPSILON } else { 0.0 };
    64.0 * (m * n + 1) as f64 * T::EPSILON.max(least)
}

/// Checks a product relative to the largest element of `a`, if the factors are finite.
fn rebuilt<T: Real>(
    what: &str,
    (m, k, n): (usize, usize, usize),
    (left, right): (&[f64], &[f64]),
    a: &[f64],
) -> Result<()> {
    if left.iter().chain(right).any(|x| !x.is_finite()) {
        return Ok(());
    }
    let most = largest(a);
    let tolerance = rounding::<T>((m, n), most);
    near(what, &product((m, k, n), left, &smaller(right, most)), &smaller(a, most), tolerance)
}

/// Checks that a finite matrix has the decomposition, and that a matrix with a NaN or an infinity has none.
fn is_expected<T: Real>(found: bool, a: &[T]) -> Result<()> {
    check(found == are_finite(a), || format!("found: {found}, of {a:?}"))
}

fn qr<T: Real>(it: &mut Setting<'_, '_>) -> Result<()> {
    let (one, other) = (it.length(), it.length());
    let (m, n) = (one.max(other), one.min(other));
    let a = it.numbers::<T>(m * n);
    let result = solve::qr(it.cx, it.stream, &it.upload(&a, &[m, n])?)?;
    let (q, r) = (opened(it, &result, |it| &it.q)?, opened(it, &result, |it| &it.r)?);
    let (Some(q), Some(r)) = (q, r) else { return is_expected(false, &a) };
    is_expected(true, &a)?;
    let (q, r) = (to_f64(&q), to_f64(&r));
    orthonormal::<T>("Q", (m, n), &q)?;
    rebuilt::<T>("Q R", (m, n, n), (&q, &r), &to_f64(&a))
}

fn svd<T: Real>(it: &mut Setting<'_, '_>) -> Result<()> {
    let (m, n) = (it.length(), it.length());
    let batch = [None, Some(it.random.below(4))][it.random.below(2)];
    let k = m.min(n);
    let a = it.numbers::<T>(batch.unwrap_or(1) * m * n);
    let shape: Vec<usize> = batch.into_iter().chain([m, n]).collect();
    let result = solve::svd_blocking(it.cx, it.stream, &it.upload(&a, &shape)?)?;
    let (u, s) = (opened(it, &result, |it| &it.u)?, opened(it, &result, |it| &it.s)?);
    let (Some(u), Some(s), Some(vt)) = (u, s, opened(it, &result, |it| &it.vt)?) else {
        return is_expected(false, &a);
    };
    is_expected(true, &a)?;
    if k == 0 {
        return Ok(());
    }
    for (at, a) in a.chunks_exact(m * n).enumerate() {
        let part = |of: &[T], each: usize| to_f64(&of[at * each..][..each]);
        let (a, u, s, vt) = (to_f64(a), part(&u, m * k), part(&s, k), part(&vt, k * n));
        orthonormal::<T>("U", (m, k), &u)?;
        orthonormal::<T>("V", (n, k), &transposed((k, n), &vt))?;
        check(s.windows(2).all(|two| two[0] >= two[1]) && s[k - 1] >= 0.0, || format!("{s:?}"))?;
        if s[0].is_finite() {
            let most = largest(&a);
            let s = smaller(&s, most);
            let scaled: Vec<f64> = (0..m * k).map(|at| u[at] * s[at % k]).collect();
            let found = product((m, k, n), &scaled, &vt);
            let tolerance = rounding::<T>((m, n), most);
            near("U diag(s) VT", &found, &smaller(&a, most), tolerance)?;
        }
    }
    Ok(())
}

fn eigen<T: Real>(it: &mut Setting<'_, '_>) -> Result<()> {
    let n = it.length();
    let batch = [None, Some(it.random.below(4))][it.random.below(2)];
    let mut a = it.numbers::<T>(batch.unwrap_or(1) * n * n);
    for a in a.chunks_exact_mut((n * n).max(1)) {
        (0..n * n).for_each(|at| a[at] = a[(at / n).max(at % n) * n + (at / n).min(at % n)]);
    }
    let shape: Vec<usize> = batch.into_iter().chain([n, n]).collect();
    let result = solve::eigen_blocking(it.cx, it.stream, &it.upload(&a, &shape)?)?;
    let (values, vectors) =
        (opened(it, &result, |it| &it.values)?, opened(it, &result, |it| &it.vectors)?);
    let (Some(values), Some(vectors)) = (values, vectors) else { return is_expected(false, &a) };
    is_expected(true, &a)?;
    for (at, a) in a.chunks_exact((n * n).max(1)).enumerate() {
        let part = |of: &[T], each: usize| to_f64(&of[at * each..][..each]);
        let (a, values, vectors) = (to_f64(a), part(&values, n), part(&vectors, n * n));
        orthonormal::<T>("the vectors", (n, n), &vectors)?;
        let is_sorted = values.windows(2).all(|two| two[0] <= two[1]);
        check(is_sorted, || format!("{values:?}"))?;
        if values.iter().all(|value| value.is_finite()) {
            let most = largest(&a);
            let values = smaller(&values, most);
            let scaled: Vec<f64> = (0..n * n).map(|at| vectors[at] * values[at / n]).collect();
            let found = product((n, n, n), &vectors, &smaller(&a, most));
            near("the vectors", &found, &scaled, rounding::<T>((n, n), most))?;
        }
    }
    Ok(())
}
