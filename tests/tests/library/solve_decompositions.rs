//! Decompositions, checked in `f64` by the matrices that they rebuild, and functions that need no plan.

use streamflow::prelude::*;
use streamflow_math::solve::{self, Eigen, Qr, Svd};
use streamflow_tests::{Failed, Suite, check};

use super::in_tick::in_tick;
use super::matrices::{
    Number, definite, near, numbers, product, solves, to_f64, transposed, upload,
};

pub(crate) fn add(suite: Suite) -> Suite {
    suite
        .both("qr_rebuilds_with_orthonormal_columns", qr)
        .both("svd_rebuilds_matrices_of_any_shape", svd)
        .both("eigenvalues_are_sorted_and_have_their_vectors", eigen)
        .both("functions_compute_what_plans_do", functions)
        .both("functions_for_the_host_return_host_memory", on_host)
}

/// Fails unless the columns of a row-major matrix are orthonormal.
fn orthonormal((m, n): (usize, usize), q: &[f64], tolerance: f64) -> Result<()> {
    let gram = product((n, m, n), &transposed((m, n), q), q);
    let identity: Vec<f64> = (0..n * n).map(|at| f64::from(at % n == at / n)).collect();
    near("QT Q", &gram, &identity, tolerance)
}

/// Fails unless `U`, the values and `VT` are a singular value decomposition of the matrix, all row-major.
pub(crate) fn are_singular_values<T: Number>(
    (m, n): (usize, usize),
    a: &[T],
    (u, s, vt): (&[f64], &[f64], &[f64]),
) -> Result<()> {
    let k = m.min(n);
    let scaled: Vec<f64> = (0..m * k).map(|at| u[at] * s[at % k]).collect();
    let tolerance = 40.0 * (m + n) as f64 * T::EPSILON;
    near("U S VT", &product((m, k, n), &scaled, vt), &to_f64(a), tolerance)?;
    orthonormal((m, k), u, tolerance)?;
    orthonormal((n, k), &transposed((k, n), vt), tolerance)?;
    let sorted = s.windows(2).all(|two| two[0] >= two[1]) && s.iter().all(|&s| s >= 0.0);
    check(sorted, || format!("{s:?} of {m} by {n} are not sorted"))
}

/// Fails unless the values are the sorted eigenvalues of a symmetric matrix, and each row is an eigenvector.
pub(crate) fn are_eigenpairs<T: Number>(a: &[T], values: &[f64], vectors: &[f64]) -> Result<()> {
    let n = values.len();
    check(values.windows(2).all(|two| two[0] <= two[1]), || format!("{values:?}: not sorted"))?;
    let columns = transposed((n, n), vectors);
    let tolerance = 40.0 * (n * n + 1) as f64 * T::EPSILON;
    orthonormal((n, n), &columns, tolerance)?;
    let scaled: Vec<f64> = (0..n * n).map(|at| columns[at] * values[at % n]).collect();
    near("A V", &product((n, n, n), &to_f64(a), &columns), &scaled, tolerance * 4.0)
}

fn qr(platform: &Platform) -> Result<(), Failed> {
    in_tick(platform, |cx, stream, _| {
        qr_of::<f32>(cx, stream)?;
        qr_of::<f64>(cx, stream)
    })
}

fn qr_of<T: Number + solve::Real>(cx: &ExecutionContext, stream: &Stream<'_>) -> Result<()> {
    for (m, n) in [(0, 0), (5, 0), (1, 1), (3, 2), (31, 31), (61, 17), (128, 9)] {
        let a = numbers::<T>(m * n, 3);
        let mut plan = Qr::plan(m, n).on(cx, stream)?;
        let mut out = plan.result(cx, stream)?;
        plan.execute(stream, &upload(cx, &a, &[m, n])?, &mut out)?;
        let q = to_f64(out.download_of(|it| &it.q, stream)?.wait_blocking()?);
        let r = to_f64(out.download_of(|it| &it.r, stream)?.wait_blocking()?);
        let tolerance = 20.0 * (m + 1) as f64 * T::EPSILON;
        near("Q R", &product((m, n, n), &q, &r), &to_f64(&a), tolerance)?;
        orthonormal((m, n), &q, tolerance)?;
        let is_upper = (0..n * n).all(|at| at / n <= at % n || r[at] == 0.0);
        check(is_upper, || format!("R of {m} by {n} has elements below the diagonal"))?;
    }
    Ok(())
}

fn svd(platform: &Platform) -> Result<(), Failed> {
    in_tick(platform, |cx, stream, _| {
        svd_of::<f32>(cx, stream)?;
        svd_of::<f64>(cx, stream)
    })
}

fn svd_of<T: Number + solve::Real>(cx: &ExecutionContext, stream: &Stream<'_>) -> Result<()> {
    for (m, n) in [(0, 4), (1, 1), (2, 3), (3, 2), (31, 31), (7, 61), (61, 17)] {
        let a = numbers::<T>(m * n, 3);
        let mut plan = Svd::plan(m, n).on(cx, stream)?;
        let mut out = plan.result(cx, stream)?;
        plan.execute_blocking(stream, &upload(cx, &a, &[m, n])?, &mut out)?;
        let u = to_f64(out.download_of(|it| &it.u, stream)?.wait_blocking()?);
        let s = to_f64(out.download_of(|it| &it.s, stream)?.wait_blocking()?);
        let vt = to_f64(out.download_of(|it| &it.vt, stream)?.wait_blocking()?);
        are_singular_values::<T>((m, n), &a, (&u, &s, &vt))?;
    }
    Ok(())
}

fn eigen(platform: &Platform) -> Result<(), Failed> {
    in_tick(platform, |cx, stream, _| {
        eigen_of::<f32>(cx, stream)?;
        eigen_of::<f64>(cx, stream)
    })
}

fn eigen_of<T: Number + solve::Real>(cx: &ExecutionContext, stream: &Stream<'_>) -> Result<()> {
    for n in [0, 1, 2, 31, 64] {
        let a = definite::<T>(n, 4);
        let mut lower = a.clone();
        (0..n).for_each(|i| (i + 1..n).for_each(|j| lower[i * n + j] = T::of(99.0)));
        let mut plan = Eigen::plan(n).on(cx, stream)?;
        let mut out = plan.result(cx, stream)?;
        plan.execute_blocking(stream, &upload(cx, &lower, &[n, n])?, &mut out)?;
        let values = to_f64(out.download_of(|it| &it.values, stream)?.wait_blocking()?);
        let vectors = to_f64(out.download_of(|it| &it.vectors, stream)?.wait_blocking()?);
        are_eigenpairs(&a, &values, &vectors)?;
    }
    Ok(())
}

fn functions(platform: &Platform) -> Result<(), Failed> {
    in_tick(platform, |cx, stream, _| {
        let n = 9;
        let (a, b) = (definite::<f64>(n, 1), numbers::<f64>(2 * n, 2));
        let (matrix, sides) = (upload(cx, &a, &[n, n])?, upload(cx, &b, &[2, n])?);
        let vector = upload(cx, &b[..n], &[n])?;
        // The call is made twice. The second one uses the plan that the node keeps.
        for _ in 0..2 {
            let x = solve::solve(cx, stream, &matrix, &sides)?.download(stream)?;
            solves(n, &a, &b, x.wait_blocking()?)?;
            check(x.shape() == [2, n], || format!("{:?}", x.shape()))?;
            let x =
                solve::solve_positive_definite(cx, stream, &matrix, &vector)?.download(stream)?;
            solves(n, &a, &b[..n], x.wait_blocking()?)?;
        }
        let l = to_f64(solve::cholesky(cx, stream, &matrix)?.download(stream)?.wait_blocking()?);
        let l: Vec<f64> = (0..n * n).map(|at| if at % n > at / n { 0.0 } else { l[at] }).collect();
        near("L LT", &product((n, n, n), &l, &transposed((n, n), &l)), &a, 1e-12)?;
        let batch = upload(cx, &[a.clone(), a.clone()].concat(), &[2, n, n])?;
        let x = solve::solve_positive_definite(cx, stream, &batch, &sides)?.download(stream)?;
        solves(n, &a, &b, x.wait_blocking()?)?;
        solve::cholesky(cx, stream, &batch)?.download(stream)?.wait_blocking()?;
        let r = solve::qr(cx, stream, &matrix)?.download_of(|it| &it.r, stream)?;
        let s = solve::svd_blocking(cx, stream, &matrix)?.download_of(|it| &it.s, stream)?;
        let values =
            solve::eigen_blocking(cx, stream, &matrix)?.download_of(|it| &it.values, stream)?;
        // The singular values of a matrix with positive eigenvalues are its eigenvalues. Their product is that of the
        // diagonal of R.
        let mut values = values.wait_blocking()?.to_vec();
        let (r, all) = (r.wait_blocking()?, values.iter().product::<f64>());
        let diagonal = (0..n).map(|i| r[i * n + i]).product::<f64>().abs();
        near("the determinant", &[diagonal / all], &[1.0], 1e-9)?;
        values.reverse();
        near("the values", s.wait_blocking()?, &values, 1e-11)
    })
}

fn on_host(platform: &Platform) -> Result<(), Failed> {
    in_tick(platform, |cx, _, _| {
        let n = 5;
        let (a, b) = (definite::<f32>(n, 1), numbers::<f32>(2 * n, 2));
        solves(n, &a, &b, &solve::solve_host_blocking(cx, n, &a, &b)?)?;
        let l = to_f64(&solve::cholesky_host_blocking(cx, n, &a)?);
        let l: Vec<f64> = (0..n * n).map(|at| if at % n > at / n { 0.0 } else { l[at] }).collect();
        near("L LT", &product((n, n, n), &l, &transposed((n, n), &l)), &to_f64(&a), 1e-4)?;
        let (q, r) = solve::qr_host_blocking(cx, [n, n], &a)?;
        near("Q R", &product((n, n, n), &to_f64(&q), &to_f64(&r)), &to_f64(&a), 1e-4)?;
        let (u, s, vt) = solve::svd_host_blocking(cx, [n, n], &a)?;
        let scaled: Vec<f64> = (0..n * n).map(|at| f64::from(u[at] * s[at % n])).collect();
        near("U S VT", &product((n, n, n), &scaled, &to_f64(&vt)), &to_f64(&a), 1e-4)?;
        let (values, vectors) = solve::eigen_host_blocking(cx, n, &a)?;
        check((values.len(), vectors.len()) == (n, n * n), || "other lengths".into())?;
        let mut reversed = to_f64(&values);
        reversed.reverse();
        near("the values", &to_f64(&s), &reversed, 1e-4)
    })
}
