//! Batches of decompositions: each matrix has the result that a single decomposition gives, and a status of its
//! own.

use streamflow::prelude::*;
use streamflow_math::solve::{self, Checked, Eigen, Svd};
use streamflow_tests::{Failed, Suite, check, check_equal, check_text};

use super::in_tick::{in_tick, text};
use super::matrices::{Number, definite, near, numbers, regular, solves, to_f64, upload};
use super::solve_decompositions::{are_eigenpairs, are_singular_values};

pub(crate) fn add(suite: Suite) -> Suite {
    suite
        .both("a_batch_of_symmetric_matrices_has_eigenvalues_for_each", eigen)
        .both("a_batch_of_matrices_of_any_shape_has_singular_values_for_each", svd)
        .both("a_nan_in_a_batch_is_an_error_of_its_matrix_alone", nan)
        .both("a_singular_matrix_in_a_batch_is_an_error_of_that_matrix_alone", singular)
        .both("functions_take_batches", functions)
        .both("operands_that_do_not_fit_a_batch_are_refused", refused)
}

/// Lengths and counts of matrices: empty, one, odd, prime, the longest for which the library is fast, longer, and
/// many.
const EIGEN: [(usize, usize); 8] =
    [(0, 3), (3, 0), (1, 5), (7, 1), (5, 17), (3, 32), (2, 41), (300, 4)];

fn eigen(platform: &Platform) -> Result<(), Failed> {
    in_tick(platform, |cx, stream, _| {
        eigen_of::<f32>(cx, stream)?;
        eigen_of::<f64>(cx, stream)
    })
}

fn eigen_of<T: Number + solve::Real>(cx: &ExecutionContext, stream: &Stream<'_>) -> Result<()> {
    for (count, n) in EIGEN {
        let a: Vec<T> = (0..count).flat_map(|i| definite::<T>(n, i as u64)).collect();
        // The elements above the diagonal are not read, so they may be NaN.
        let mut lower = a.clone();
        for matrix in lower.chunks_exact_mut((n * n).max(1)) {
            (0..n).for_each(|i| (i + 1..n).for_each(|j| matrix[i * n + j] = T::of(99.0)));
        }
        let mut plan = Eigen::plan(n).batch(count).on(cx, stream)?;
        let mut out = plan.result(cx, stream)?;
        let matrices = upload(cx, &lower, &[count, n, n])?;
        // The second execution overwrites the result of the first.
        for _ in 0..2 {
            plan.execute_blocking(stream, &matrices, &mut out)?;
        }
        let values = out.download_of(|it| &it.values, stream)?;
        let vectors = out.download_of(|it| &it.vectors, stream)?;
        check_equal(&values.shape().to_vec(), &vec![count, n])?;
        check_equal(&vectors.shape().to_vec(), &vec![count, n, n])?;
        let (values, vectors) = (values.wait_blocking()?, vectors.wait_blocking()?);
        for i in 0..count {
            let (square, line) = (i * n * n..(i + 1) * n * n, i * n..(i + 1) * n);
            let (values, vectors) = (to_f64(&values[line]), to_f64(&vectors[square.clone()]));
            are_eigenpairs(&a[square], &values, &vectors)?;
        }
    }
    Ok(())
}

/// Matrices with fewer and with more columns than rows, up to the longest that the library takes.
const SVD: [(usize, usize, usize); 9] = [
    (0, 2, 3),
    (3, 0, 4),
    (1, 5, 5),
    (7, 1, 1),
    (5, 7, 13),
    (5, 13, 7),
    (2, 32, 32),
    (3, 1, 32),
    (300, 3, 2),
];

fn svd(platform: &Platform) -> Result<(), Failed> {
    in_tick(platform, |cx, stream, _| {
        svd_of::<f32>(cx, stream)?;
        svd_of::<f64>(cx, stream)
    })
}

fn svd_of<T: Number + solve::Real>(cx: &ExecutionContext, stream: &Stream<'_>) -> Result<()> {
    for (count, m, n) in SVD {
        let (a, k) = (numbers::<T>(count * m * n, 3), m.min(n));
        let mut plan = Svd::plan(m, n).batch(count).on(cx, stream)?;
        let mut out = plan.result(cx, stream)?;
        let matrices = upload(cx, &a, &[count, m, n])?;
        for _ in 0..2 {
            plan.execute_blocking(stream, &matrices, &mut out)?;
        }
        let u = out.download_of(|it| &it.u, stream)?;
        let s = out.download_of(|it| &it.s, stream)?;
        let vt = out.download_of(|it| &it.vt, stream)?;
        check_equal(&u.shape().to_vec(), &vec![count, m, k])?;
        check_equal(&s.shape().to_vec(), &vec![count, k])?;
        check_equal(&vt.shape().to_vec(), &vec![count, k, n])?;
        let (u, s, vt) = (u.wait_blocking()?, s.wait_blocking()?, vt.wait_blocking()?);
        for i in 0..count {
            let part = |values: &[T], each: usize| to_f64(&values[i * each..(i + 1) * each]);
            let found = (part(u, m * k), part(s, k), part(vt, k * n));
            let a = &a[i * m * n..(i + 1) * m * n];
            are_singular_values((m, n), a, (&found.0, &found.1, &found.2))?;
        }
    }
    Ok(())
}

fn nan(platform: &Platform) -> Result<(), Failed> {
    in_tick(platform, |cx, stream, _| {
        let (count, n) = (4, 5);
        let good: Vec<f64> = (0..count).flat_map(|i| definite::<f64>(n, i as u64)).collect();
        let mut bad = good.clone();
        (bad[2 * n * n + 3 * n + 1], bad[2 * n * n + 4 * n]) = (f64::NAN, f64::NAN);
        let matrices = upload(cx, &bad, &[count, n, n])?;
        let good = |i: usize| &good[i * n * n..(i + 1) * n * n];

        let out = solve::eigen_blocking(cx, stream, &matrices)?;
        let values = to_f64(&stream.download_blocking(&out.on_device().values)?);
        let vectors = to_f64(&stream.download_blocking(&out.on_device().vectors)?);
        has_one_mark(&out, stream, 2)?;
        for i in [0, 1, 3] {
            let (values, vectors) = (&values[i * n..][..n], &vectors[i * n * n..][..n * n]);
            are_eigenpairs(good(i), values, vectors)?;
        }
        let found = text(out.download_of(|it| &it.values, stream)?.wait_blocking())?;
        let wanted = "matrix 2 of the batch: the matrix has a NaN in row 3, counted from 0";
        check_text(&found, &["`solve::Eigen`, ", wanted])?;
        check_text(&text(out.open_blocking(stream))?, &[wanted])?;

        let out = solve::svd_blocking(cx, stream, &matrices)?;
        let u = to_f64(&stream.download_blocking(&out.on_device().u)?);
        let s = to_f64(&stream.download_blocking(&out.on_device().s)?);
        let vt = to_f64(&stream.download_blocking(&out.on_device().vt)?);
        has_one_mark(&out, stream, 2)?;
        for i in [0, 1, 3] {
            let (u, vt) = (&u[i * n * n..][..n * n], &vt[i * n * n..][..n * n]);
            // The tolerance is for elements of about 1. These values are up to `2 n`, so they are divided.
            let tiny: Vec<f64> = good(i).iter().map(|value| value / (2 * n) as f64).collect();
            let s: Vec<f64> = s[i * n..][..n].iter().map(|value| value / (2 * n) as f64).collect();
            are_singular_values((n, n), &tiny, (u, &s, vt))?;
        }
        let found = text(out.download_of(|it| &it.s, stream)?.wait_blocking())?;
        check_text(&found, &["`solve::Svd`, ", wanted])?;
        check_text(&text(out.open_blocking(stream))?, &[wanted])
    })
}

/// The number of matrices, their rows, and the matrix and row that is zero: in a single matrix, in the first and
/// the last matrix and row, and for sizes for which cuBLAS has special kernels.
const SINGULAR: [(usize, usize, usize, usize); 9] = [
    (1, 1, 0, 0),
    (3, 5, 1, 3),
    (2, 2, 1, 0),
    (5, 8, 4, 7),
    (300, 4, 299, 1),
    (7, 17, 0, 16),
    (2, 32, 0, 31),
    (2, 33, 1, 32),
    (3, 65, 2, 40),
];

fn singular(platform: &Platform) -> Result<(), Failed> {
    in_tick(platform, |cx, stream, _| {
        SINGULAR.iter().try_for_each(|&case| singular_of::<f64>(cx, stream, case))?;
        SINGULAR.iter().try_for_each(|&case| singular_of::<f32>(cx, stream, case))?;

        let (count, n) = (3, 5);
        let mut bad: Vec<f64> = (0..count).flat_map(|i| regular::<f64>(n, i as u64)).collect();
        bad[2 * n * n + n] = f64::NAN;
        let b = numbers::<f64>(count * n, 7);
        let (a, sides) = (upload(cx, &bad, &[count, n, n])?, upload(cx, &b, &[count, n])?);
        let x = solve::solve(cx, stream, &a, &sides)?;
        has_one_mark(&x, stream, 2)?;
        let found = stream.download_blocking(x.on_device())?;
        for i in [0, 1] {
            solves(n, &bad[i * n * n..][..n * n], &b[i * n..][..n], &found[i * n..][..n])?;
        }
        let wanted = "`solve::Lu`, matrix 2 of the batch: the matrix has a NaN in row 1,";
        check_text(&text(x.download(stream)?.wait_blocking())?, &[wanted])
    })
}

fn singular_of<T: Number>(
    cx: &ExecutionContext,
    stream: &Stream<'_>,
    (count, n, matrix, row): (usize, usize, usize, usize),
) -> Result<()> {
    let mut a: Vec<T> = (0..count).flat_map(|i| regular::<T>(n, i as u64)).collect();
    // The pivot of a row of zeros is exactly zero, in whatever order the operations are done.
    a[matrix * n * n + row * n..][..n].fill(T::of(0.0));
    let b = numbers::<T>(count * n, 7);
    let sides = upload(cx, &b, &[count, n])?;
    let x = solve::solve(cx, stream, &upload(cx, &a, &[count, n, n])?, &sides)?;
    let statuses = stream.download_blocking(&x.statuses())?;
    let wanted = (0..2 * count).map(|at| if at == matrix { row as i32 + 1 } else { 0 });
    check_equal(&statuses, &wanted.collect::<Vec<_>>())?;
    let found = stream.download_blocking(x.on_device())?;
    for i in (0..count).filter(|&i| i != matrix) {
        solves(n, &a[i * n * n..][..n * n], &b[i * n..][..n], &found[i * n..][..n])?;
    }
    let place = if count > 1 { format!(", matrix {matrix} of the batch") } else { String::new() };
    let wanted = format!("`solve::Lu`{place}: the matrix is singular: row {row}, counted from 0,");
    check_text(&text(x.open_blocking(stream))?, &[&wanted])
}

/// Fails unless exactly one matrix is marked as singular, and all others have neither a mark nor another status.
fn has_one_mark<V>(out: &Checked<V>, stream: &Stream<'_>, marked: usize) -> Result<()> {
    let statuses = stream.download_blocking(&out.statuses())?;
    let (found, marks) = statuses.split_at(statuses.len() / 2);
    check(marks[marked] > 0, || format!("no mark in {marks:?}"))?;
    let others = (0..marks.len()).filter(|&at| at != marked);
    check(others.clone().all(|at| found[at] == 0 && marks[at] == 0), || format!("{statuses:?}"))
}

fn functions(platform: &Platform) -> Result<(), Failed> {
    in_tick(platform, |cx, stream, _| {
        let (count, n) = (3, 6);
        let a: Vec<f32> = (0..count).flat_map(|i| definite::<f32>(n, i as u64)).collect();
        let matrices = upload(cx, &a, &[count, n, n])?;
        // The call is made twice. The second one uses the plan that the node keeps.
        for _ in 0..2 {
            let eigen = solve::eigen_blocking(cx, stream, &matrices)?;
            let svd = solve::svd_blocking(cx, stream, &matrices)?;
            let values = eigen.download_of(|it| &it.values, stream)?;
            let s = svd.download_of(|it| &it.s, stream)?;
            let (values, s) = (to_f64(values.wait_blocking()?), to_f64(s.wait_blocking()?));
            // The singular values of a matrix with positive eigenvalues are its eigenvalues.
            for (values, s) in values.chunks_exact(n).zip(s.chunks_exact(n)) {
                let reversed: Vec<f64> = values.iter().rev().copied().collect();
                near("the values", s, &reversed, 1e-4)?;
            }
        }
        let flat = cx.upload(&a)?;
        let found = text(solve::svd_blocking(cx, stream, &flat))?;
        check_text(
            &found,
            &["`solve::svd_blocking`: `a` has shape [108], but a matrix `[m, n]` or"],
        )?;
        let found = text(solve::eigen_blocking(cx, stream, &flat.reshape([3, 4, 9])?))?;
        check_text(&found, &["`solve::eigen_blocking`: `a` has shape [3, 4, 9]", "square matrix"])
    })
}

fn refused(platform: &Platform) -> Result<(), Failed> {
    in_tick(platform, |cx, stream, _| {
        let tensor = |shape: &[usize]| cx.tensor::<f64>(shape, stream);
        let mut plan = Eigen::plan(2).batch(3).on(cx, stream)?;
        let mut out = plan.result(cx, stream)?;
        let found = text(plan.execute_blocking(stream, &tensor(&[2, 2])?, &mut out))?;
        check_text(&found, &["`a` has shape [2, 2], but the plan was made for [3, 2, 2]"])?;
        let mut single = Eigen::plan(2).on(cx, stream)?;
        let found = text(single.execute_blocking(stream, &tensor(&[2, 2])?, &mut out))?;
        check_text(&found, &["`values` has shape [3, 2], but the plan was made for [2]"])?;
        let value = solve::Eigenpairs { values: tensor(&[3, 2])?, vectors: tensor(&[3, 2, 2])? };
        let mut one = Checked::new(value, cx, stream)?;
        let found = text(plan.execute_blocking(stream, &tensor(&[3, 2, 2])?, &mut one))?;
        check_text(
            &found,
            &["has statuses for 1 matrices, but the plan has 3; make it by `result`"],
        )?;

        let mut plan = Svd::plan(2, 4).batch(3).on(cx, stream)?;
        let mut out = plan.result(cx, stream)?;
        let found = text(plan.execute_blocking(stream, &tensor(&[3, 4, 2])?, &mut out))?;
        check_text(&found, &["`a` has shape [3, 4, 2], but the plan was made for [3, 2, 4]"])?;
        for (rows, columns) in [(33, 2), (2, 33)] {
            let found = text(Svd::<f32>::plan(rows, columns).batch(3).on(cx, stream))?;
            check_text(&found, &["`solve::Svd`: `plan` has ", "at most 32 of each in a batch"])?;
        }
        Svd::<f32>::plan(33, 2).on(cx, stream)?;
        let found = text(Eigen::<f32>::plan(2).batch(1 << 31).on(cx, stream))?;
        check_text(&found, &["`solve::Eigen`: `plan` is [2147483648, 2, 2]"])
    })
}
