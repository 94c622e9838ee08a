//! Sparse products: results compared with `f64`, their order, and their errors.

use num_complex::Complex;
use streamflow::prelude::*;
use streamflow_math::Plan;
use streamflow_math::sparse::{self, Csr, SpMm, SpMv, SparseElement};
use streamflow_tests::kernels::{add_one, slow_fill};
use streamflow_tests::ordered::Program;
use streamflow_tests::random::Random;
use streamflow_tests::{Failed, Suite, check, check_error, check_text};

use super::in_tick::{holds_in_tick, in_tick, in_ticks, load_kernels, text};
use super::matrices::{Number, near, numbers, product, to_f64, upload};

const PROGRAMS: &[(&str, Program)] = &[
    ("a_sparse_product_comes_after_the_write_of_its_operand", reads_late_data),
    ("a_sparse_product_comes_after_the_write_of_the_matrix_values", reads_late_values),
    ("a_later_read_comes_after_a_sparse_product", is_read_later),
];

/// Cycles, much longer than a call: about 10 ms on a GPU.
const SLOW: u64 = 20_000_000;

pub(crate) fn add(suite: Suite) -> Suite {
    let suite = PROGRAMS.iter().fold(suite, |suite, &(name, program)| suite.ordered(name, program));
    suite
        .both("sparse_products_are_those_of_the_dense_matrix", products)
        .both("sparse_products_are_complex", complex)
        .both("a_sparse_plan_is_kept_while_values_change", kept)
        .both("sparse_functions_compute_what_plans_do", functions)
        .both("sparse_operands_that_do_not_fit_are_refused", layouts)
}

/// A sparse matrix in compressed rows, on the host.
struct Rows<T> {
    shape: [usize; 2],
    offsets: Vec<i32>,
    columns: Vec<i32>,
    values: Vec<T>,
}

impl<T: SparseElement> Rows<T> {
    fn upload(&self, cx: &ExecutionContext) -> Result<Csr<T>> {
        Ok(Csr::upload(cx, self.shape, &self.offsets, &self.columns, &self.values)?)
    }
}

/// Returns a random matrix with a given average number of elements in a row, and with some empty rows.
fn random<T: Number>(
    [rows, columns]: [usize; 2],
    density: usize,
    seed: u64,
) -> (Rows<T>, Vec<f64>) {
    let mut random = Random::new(seed);
    let (mut offsets, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    let mut dense = vec![0.0; rows * columns];
    for row in 0..rows {
        let is_empty = random.below(4) == 0;
        for column in 0..columns {
            if !is_empty && random.below(columns) < density {
                let value = T::of(f64::from(random.signed()));
                indices.push(column as i32);
                values.push(value);
                dense[row * columns + column] = value.into();
            }
        }
        offsets.push(indices.len() as i32);
    }
    (Rows { shape: [rows, columns], offsets, columns: indices, values }, dense)
}

const SHAPES: [[usize; 2]; 9] =
    [[0, 0], [0, 3], [3, 0], [1, 1], [2, 5], [31, 17], [64, 64], [128, 61], [7, 128]];

fn products(platform: &Platform) -> Result<(), Failed> {
    in_tick(platform, |cx, stream, _| {
        products_of::<f32>(cx, stream)?;
        products_of::<f64>(cx, stream)
    })
}

fn products_of<T: Number + SparseElement>(
    cx: &ExecutionContext,
    stream: &Stream<'_>,
) -> Result<()> {
    for ([m, n], density) in SHAPES.into_iter().zip([3, 3, 3, 9, 2, 4, 0, 61, 20]) {
        let (rows, dense) = random::<T>([m, n], density, 7);
        let a = rows.upload(cx)?;
        check((a.shape(), a.stored()) == ([m, n], rows.values.len()), || format!("{a:?}"))?;
        let tolerance = 8.0 * (n + 1) as f64 * T::EPSILON;
        let x = numbers::<T>(n, 1);
        let device_x = upload(cx, &x, &[n])?;
        let wanted = product((m, n, 1), &dense, &to_f64(&x));
        let mut y = upload(cx, &numbers::<T>(m, 2), &[m])?;
        SpMv::plan(&a).on(cx, stream)?.execute(stream, &a, &device_x, &mut y)?;
        near("A x", &to_f64(&stream.download_blocking(&y)?), &wanted, tolerance)?;
        SpMv::plan(&a).accumulate().on(cx, stream)?.execute(stream, &a, &device_x, &mut y)?;
        let twice: Vec<f64> = wanted.iter().map(|y| 2.0 * y).collect();
        near("A x + y", &to_f64(&stream.download_blocking(&y)?), &twice, 2.0 * tolerance)?;
        for k in [0, 1, 5] {
            let b = numbers::<T>(n * k, 3);
            let wanted = product((m, n, k), &dense, &to_f64(&b));
            let b = upload(cx, &b, &[n, k])?;
            let mut c = upload(cx, &numbers::<T>(m * k, 4), &[m, k])?;
            SpMm::plan(&a, k).on(cx, stream)?.execute(stream, &a, &b, &mut c)?;
            near("A B", &to_f64(&stream.download_blocking(&c)?), &wanted, tolerance)?;
            SpMm::plan(&a, k).accumulate().on(cx, stream)?.execute(stream, &a, &b, &mut c)?;
            let twice: Vec<f64> = wanted.iter().map(|y| 2.0 * y).collect();
            near("A B + C", &to_f64(&stream.download_blocking(&c)?), &twice, 2.0 * tolerance)?;
        }
    }
    Ok(())
}

fn complex(platform: &Platform) -> Result<(), Failed> {
    in_tick(platform, |cx, stream, _| {
        let i = Complex::new(0.0, 1.0_f32);
        let a = Csr::upload(cx, [2, 2], &[0, 2, 3], &[0, 1, 1], &[i, i * 2.0, i + 1.0])?;
        let x = cx.upload(&[i, Complex::new(1.0, 0.0)])?;
        let y = sparse::spmv(cx, stream, &a, &x)?;
        let found = stream.download_blocking(&y)?;
        let wanted = [Complex::new(-1.0, 2.0), Complex::new(1.0, 1.0)];
        check(found == wanted, || format!("{found:?}"))?;
        let wide = |v: &[Complex<f32>]| -> Vec<Complex<f64>> {
            v.iter().map(|v| Complex::new(v.re.into(), v.im.into())).collect()
        };
        let a = Csr::upload(cx, [2, 2], &[0, 2, 3], &[0, 1, 1], &wide(&[i, i * 2.0, i + 1.0]))?;
        let b = upload(cx, &wide(&[i, Complex::new(1.0, 0.0)]), &[2, 1])?;
        let found = stream.download_blocking(&sparse::spmm(cx, stream, &a, &b)?)?;
        check(found == wide(&wanted), || format!("{found:?}"))
    })
}

/// A sparse matrix with two plans that multiply it.
type Kept = (Csr<f32>, Plan<SpMv<f32>>, Plan<SpMm<f32>>);

fn kept(platform: &Platform) -> Result<(), Failed> {
    let mut kept: Option<Kept> = None;
    in_ticks(platform, 4, move |cx, stream, other| {
        let (a, vector, matrix) = match &mut kept {
            Some(kept) => kept,
            empty => {
                let a = Csr::upload(cx, [2, 2], &[0, 1, 2], &[1, 0], &[0.0, 0.0])?;
                let plans = (SpMv::plan(&a).on(cx, stream)?, SpMm::plan(&a, 2).on(cx, stream)?);
                empty.insert((a, plans.0, plans.1))
            }
        };
        // The values are changed on another stream, so the product must wait for that stream.
        other.launch::<add_one>(2, (a.values_mut(),))?;
        let scale = cx.tick() as f32 + 1.0;
        let mut y = cx.tensor([2], stream)?;
        vector.execute(stream, a, &cx.upload(&[1.0, 10.0])?, &mut y)?;
        let found = stream.download_blocking(&y)?;
        check(found == [10.0 * scale, scale], || format!("{found:?}"))?;
        let mut c = cx.tensor([2, 2], stream)?;
        matrix.execute(stream, a, &upload(cx, &[1.0, 2.0, 3.0, 4.0], &[2, 2])?, &mut c)?;
        let found = stream.download_blocking(&c)?;
        let wanted = [3.0 * scale, 4.0 * scale, scale, 2.0 * scale];
        check(found == wanted, || format!("{found:?}"))
    })
}

fn functions(platform: &Platform) -> Result<(), Failed> {
    in_tick(platform, |cx, stream, _| {
        let (rows, dense) = random::<f64>([9, 5], 3, 1);
        let a = rows.upload(cx)?;
        let (x, b) = (numbers::<f64>(5, 2), numbers::<f64>(15, 3));
        let (by_x, by_b) = (product((9, 5, 1), &dense, &x), product((9, 5, 3), &dense, &b));
        for _ in 0..2 {
            let y = sparse::spmv(cx, stream, &a, &cx.upload(&x)?)?;
            near("A x", &stream.download_blocking(&y)?, &by_x, 1e-14)?;
            let c = sparse::spmm(cx, stream, &a, &upload(cx, &b, &[5, 3])?)?;
            near("A B", &stream.download_blocking(&c)?, &by_b, 1e-14)?;
        }
        let parts = (&rows.offsets[..], &rows.columns[..], &rows.values[..]);
        near("on the host", &sparse::spmv_host_blocking(cx, [9, 5], parts, &x)?, &by_x, 1e-14)?;
        near(
            "on the host",
            &sparse::spmm_host_blocking(cx, [9, 5], parts, (&b, 3))?,
            &by_b,
            1e-14,
        )?;
        let found = text(sparse::spmm_host_blocking(cx, [9, 5], parts, (&b[1..], 3)))?;
        check_text(&found, &["`b` has 14 elements, but a matrix of 5 columns needs 5 rows of 3"])?;
        Ok(())
    })
}

fn layouts(platform: &Platform) -> Result<(), Failed> {
    in_tick(platform, |cx, stream, other| {
        for shape in [[1 << 31, 1], [1, 1 << 31]] {
            let found = text(Csr::<f32>::upload(cx, shape, &[0], &[], &[]))?;
            let wanted = [
                "`sparse::Csr::upload`: `values` has 0 elements in ",
                "more than 2147483647; divide",
            ];
            check_text(&found, &wanted)?;
        }
        let found = text(Csr::upload(cx, [1, 2], &[0, 1], &[2], &[1.0_f32]))?;
        check_text(
            &found,
            &[
                "`sparse::Csr::upload`: `indices` has the column 2 at 0, but the matrix has 2 columns",
            ],
        )?;
        let a = Csr::upload(cx, [2, 3], &[0, 1, 2], &[0, 2], &[1.0_f32, 2.0])?;
        let same = Csr::upload(cx, [2, 3], &[0, 1, 2], &[0, 2], &[1.0_f32, 2.0])?;
        let tensor = |shape: &[usize]| cx.tensor::<f32>(shape, stream);
        let mut plan = SpMv::plan(&a).on(cx, stream)?;
        let (x, mut y) = (cx.upload(&[1.0, 2.0, 3.0])?, tensor(&[2])?);
        let found = text(plan.execute(stream, &same, &x, &mut y))?;
        check_text(&found, &["`sparse::SpMv`: `a` is not the matrix that the plan was made for"])?;
        let found = text(plan.execute(stream, &a, &tensor(&[2])?, &mut y))?;
        check_text(&found, &["`x` has shape [2], but the plan was made for [3]; make a plan"])?;
        let found = text(plan.execute(stream, &a, &x, &mut tensor(&[2, 1])?))?;
        check_text(&found, &["`y` has shape [2, 1], but the plan was made for [2]"])?;
        let is_other = |error: &Error| matches!(error, Error::OtherStream { .. });
        check_error("another stream", plan.execute(other, &a, &x, &mut y), is_other)?;
        plan.execute(stream, &a, &x, &mut y)?;
        check(stream.download_blocking(&y)? == [1.0, 6.0], || "another result".into())?;
        let mut plan = SpMm::plan(&a, 4).on(cx, stream)?;
        let found = text(plan.execute(stream, &a, &tensor(&[3, 2])?, &mut tensor(&[2, 4])?))?;
        check_text(
            &found,
            &["`sparse::SpMm`: `B` has shape [3, 2], but the plan was made for [3, 4]"],
        )?;
        let found = text(plan.execute(stream, &a, &tensor(&[3, 4])?, &mut tensor(&[4, 2])?))?;
        check_text(&found, &["`C` has shape [4, 2], but the plan was made for [2, 4]"])?;
        let found = text(SpMm::plan(&a, usize::MAX / 2).on(cx, stream))?;
        check_text(&found, &["`sparse::SpMm`: `B` has", "fit no memory"])?;
        Ok(())
    })
}

fn reads_late_data(platform: &Platform) -> Result<bool> {
    holds_in_tick(platform, |cx, work, other| {
        let a = Csr::upload(cx, [2, 2], &[0, 1, 2], &[1, 0], &[3.0, 4.0])?;
        let mut plan = SpMv::plan(&a).on(cx, work)?;
        let (mut x, mut y) = (cx.upload(&[1.0_f32; 2])?, cx.tensor([2], work)?);
        other.launch::<slow_fill>(2, (&mut x, 2.0, SLOW))?;
        plan.execute(work, &a, &x, &mut y)?;
        Ok(work.download_blocking(&y)? == [6.0, 8.0])
    })
}

fn reads_late_values(platform: &Platform) -> Result<bool> {
    holds_in_tick(platform, |cx, work, other| {
        let mut a = Csr::upload(cx, [2, 2], &[0, 1, 2], &[1, 0], &[3.0, 4.0])?;
        let mut plan = SpMm::plan(&a, 1).on(cx, work)?;
        let (x, mut y) = (upload(cx, &[1.0_f32; 2], &[2, 1])?, cx.tensor([2, 1], work)?);
        other.launch::<slow_fill>(2, (a.values_mut(), 2.0, SLOW))?;
        plan.execute(work, &a, &x, &mut y)?;
        Ok(work.download_blocking(&y)? == [2.0, 2.0])
    })
}

fn is_read_later(platform: &Platform) -> Result<bool> {
    holds_in_tick(platform, |cx, work, other| {
        let a = Csr::upload(cx, [2, 2], &[0, 1, 2], &[1, 0], &[3.0, 4.0])?;
        let mut plan = SpMv::plan(&a).on(cx, work)?;
        let (mut x, mut y) = (cx.upload(&[1.0_f32; 2])?, cx.upload(&[0.0; 2])?);
        plan.execute(work, &a, &x, &mut y)?;
        load_kernels(cx, work)?;
        work.launch::<slow_fill>(2, (&mut x, 2.0, SLOW))?;
        plan.execute(work, &a, &x, &mut y)?;
        other.launch::<add_one>(2, (&mut y,))?;
        Ok(other.download_blocking(&y)? == [7.0, 9.0])
    })
}
