//! Results of products, compared with double precision.

use half::{bf16, f16};
use streamflow::memory::Complex;
use streamflow::prelude::*;
use streamflow_math::matmul::multiply_host_blocking;
use streamflow_math::matmul::{EpilogueElement, Matmul, MatmulElement, Planner, multiply};
use streamflow_tests::random::Random;
use streamflow_tests::{Failed, Suite, check, check_equal};

use super::hook::{once, tensor, ticks};

pub(super) fn add(suite: Suite) -> Suite {
    suite
        .both("matmul_of_many_sizes_is_that_of_double_precision", sizes)
        .both("matmul_of_halves_and_of_complex_numbers_is_that_of_double_precision", other_types)
        .both("matmul_takes_transposed_padded_and_batched_matrices", layouts)
        .both("matmul_adds_a_bias_before_its_activation", epilogues)
        .both("matmul_of_no_elements_does_nothing", empty)
        .both("matmul_reads_c_only_if_beta_is_not_0", scaled)
        .both("matmul_passes_a_nan_through", nan)
        .both("tf32_is_a_precision_by_name", tf32)
        .both("a_stateless_product_keeps_its_plan", stateless)
}

/// A number type with conversions from and to double precision.
trait Real: MatmulElement {
    const EPSILON: f64;
    fn of(x: f32) -> Self;
    fn get(self) -> f64;
}

macro_rules! real {
    ($($ty:ty: $epsilon:expr, $of:expr, $get:expr;)*) => {
        $(impl Real for $ty {
            const EPSILON: f64 = $epsilon;
            fn of(x: f32) -> Self {
                ($of)(x)
            }
            fn get(self) -> f64 {
                ($get)(self)
            }
        })*
    };
}

real! {
    f32: f32::EPSILON as f64, |x| x, f64::from;
    f64: f64::EPSILON, f64::from, |x| x;
    f16: 9.765_625e-4, f16::from_f32, f16::to_f64;
    bf16: 7.812_5e-3, bf16::from_f32, bf16::to_f64;
}

/// A row-major matrix.
#[derive(Clone)]
struct Matrix<T> {
    rows: usize,
    cols: usize,
    values: Vec<T>,
}

impl<T: Real> Matrix<T> {
    fn random(rows: usize, cols: usize, random: &mut Random) -> Self {
        let values = (0..rows * cols).map(|_| T::of(random.signed())).collect();
        Self { rows, cols, values }
    }

    fn at(&self, row: usize, col: usize) -> f64 {
        self.values[row * self.cols + col].get()
    }

    fn transposed(&self) -> Self {
        let places =
            (0..self.cols).flat_map(|col| (0..self.rows).map(move |row| row * self.cols + col));
        Self {
            rows: self.cols,
            cols: self.rows,
            values: places.map(|at| self.values[at]).collect(),
        }
    }

    /// Returns the product in double precision, row-major.
    fn times(&self, other: &Self) -> Vec<f64> {
        let rows = 0..self.rows;
        let sum = |row, col| (0..self.cols).map(|k| self.at(row, k) * other.at(k, col)).sum();
        rows.flat_map(|row| (0..other.cols).map(move |col| (row, col)))
            .map(|(row, col)| sum(row, col))
            .collect()
    }
}

/// Fails unless each value is within `8 sqrt(k) ε` of the wanted one.
fn close<T: Real>(found: &[T], wanted: &[f64], k: usize) -> Result<()> {
    let most = 8.0 * (k.max(1) as f64).sqrt() * T::EPSILON;
    check_equal(found.len(), wanted.len())?;
    for (index, (found, wanted)) in found.iter().zip(wanted).enumerate() {
        let off = (found.get() - wanted).abs();
        check(off <= most * wanted.abs().max(1.0), || {
            format!("value {index} is {found:?}, not {wanted}: off by {off:e}, more than {most:e}")
        })?;
    }
    Ok(())
}

fn product<T: Real>(platform: &Platform, sizes: &'static [[usize; 3]]) -> Result<(), Failed> {
    once(platform, move |cx, work, _| {
        let mut random = Random::new(7);
        for &[m, n, k] in sizes {
            let (a, b) =
                (Matrix::<T>::random(m, k, &mut random), Matrix::random(k, n, &mut random));
            let (x, y) =
                (tensor(cx, work, &[m, k], &a.values)?, tensor(cx, work, &[k, n], &b.values)?);
            let mut c = cx.tensor([m, n], work)?;
            // Algorithms that load several elements at once need rows of whole vectors. For other lengths, the library finds
            // another algorithm.
            let mut plan = Matmul::<T>::plan(m, n, k).on(cx, work)?;
            plan.execute(work, &x, &y, &mut c)?;
            close(&work.download_blocking(&c)?, &a.times(&b), k)?;
        }
        Ok(())
    })
}

const SIZES: &[[usize; 3]] = &[
    [1, 1, 1],
    [1, 7, 3],
    [5, 1, 2],
    [3, 5, 1],
    [17, 31, 13],
    [64, 64, 64],
    [97, 89, 101],
    [128, 10, 257],
];

fn sizes(platform: &Platform) -> Result<(), Failed> {
    product::<f32>(platform, SIZES)?;
    product::<f64>(platform, SIZES)
}

fn other_types(platform: &Platform) -> Result<(), Failed> {
    product::<f16>(platform, &[[1, 1, 1], [16, 24, 32], [17, 31, 13]])?;
    product::<bf16>(platform, &[[1, 1, 1], [16, 24, 32], [17, 31, 13]])?;
    once(platform, |cx, work, _| {
        const M: usize = 9;
        const N: usize = 11;
        const K: usize = 13;
        let mut random = Random::new(3);
        let mut numbers = |count| {
            let complex = |_| Complex::new(random.signed(), random.signed());
            (0..count).map(complex).collect::<Vec<Complex<f32>>>()
        };
        let (a, b) = (numbers(M * K), numbers(K * N));
        let (x, y) = (tensor(cx, work, &[M, K], &a)?, tensor(cx, work, &[K, N], &b)?);
        let mut c = cx.tensor([M, N], work)?;
        Matmul::plan(M, N, K).on(cx, work)?.execute(work, &x, &y, &mut c)?;
        let wide = |z: Complex<f32>| Complex::new(f64::from(z.re), f64::from(z.im));
        for (index, &found) in work.download_blocking(&c)?.iter().enumerate() {
            let (row, col) = (index / N, index % N);
            let wanted: Complex<f64> =
                (0..K).map(|k| wide(a[row * K + k]) * wide(b[k * N + col])).sum();
            check((wide(found) - wanted).norm() < 1e-5, || {
                format!("{index}: {found}, not {wanted}")
            })?;
        }
        Ok(())
    })
}

/// Returns the matrix with `leading` elements from row to row. The gaps between the rows have NaN.
fn padded(matrix: &Matrix<f32>, leading: usize) -> Vec<f32> {
    let rows = matrix.values.chunks(matrix.cols);
    let gap = vec![f32::NAN; leading - matrix.cols];
    rows.flat_map(|row| row.iter().chain(&gap).copied()).collect()
}

fn layouts(platform: &Platform) -> Result<(), Failed> {
    const M: usize = 12;
    const N: usize = 8;
    const K: usize = 20;
    const WIDE: usize = 24;
    const BATCH: usize = 3;
    once(platform, |cx, work, _| {
        let mut random = Random::new(5);
        let (a, b) = (Matrix::<f32>::random(M, K, &mut random), Matrix::random(K, N, &mut random));
        let wanted = a.times(&b);
        for (flip_a, flip_b) in [(false, false), (false, true), (true, false), (true, true)] {
            let stored_a = if flip_a { a.transposed() } else { a.clone() };
            let stored_b = if flip_b { b.transposed() } else { b.clone() };
            let mut plan = Matmul::<f32>::plan(M, N, K);
            plan = if flip_a { plan.transpose_a() } else { plan };
            plan = if flip_b { plan.transpose_b() } else { plan };
            let shape_a = [stored_a.rows, stored_a.cols];
            let shape_b = [stored_b.rows, stored_b.cols];
            let x = tensor(cx, work, &shape_a, &stored_a.values)?;
            let y = tensor(cx, work, &shape_b, &stored_b.values)?;
            let mut c = cx.tensor([M, N], work)?;
            plan.on(cx, work)?.execute(work, &x, &y, &mut c)?;
            close(&work.download_blocking(&c)?, &wanted, K)?;

            // The operands are parts of wider tensors.
            let moved = |stored: &Matrix<f32>| {
                let mut values = padded(stored, WIDE);
                values.chunks_mut(WIDE).for_each(|row| row.rotate_right(4));
                values
            };
            let x = tensor(cx, work, &[shape_a[0], WIDE], &moved(&stored_a))?;
            let y = tensor(cx, work, &[shape_b[0], WIDE], &moved(&stored_b))?;
            let mut c = tensor(cx, work, &[M, WIDE], &[7.0; M * WIDE])?;
            let part = || Failed::msg("no such part");
            let x = x.view().slice(1, 4..4 + shape_a[1]).ok_or_else(part)?;
            let y = y.view().slice(1, 4..4 + shape_b[1]).ok_or_else(part)?;
            let plan = plan.leading_dimensions([WIDE; 3]);
            let mut plan = plan.alignment(16).on(cx, work)?;
            let mut target = c.view_mut().slice(1, 4..4 + N).ok_or_else(part)?;
            plan.execute(work, &x, &y, &mut target)?;
            let found = work.download_blocking(&c)?;
            for (row, wanted) in found.chunks(WIDE).zip(wanted.chunks(N)) {
                close(&row[4..4 + N], wanted, K)?;
                check(row[..4].iter().chain(&row[4 + N..]).all(|&gap| gap == 7.0), || {
                    format!("the gaps are written: {row:?}")
                })?;
            }
        }

        // A batch of products that all have the same `b`.
        let many: Vec<_> = (0..BATCH).map(|_| Matrix::<f32>::random(M, K, &mut random)).collect();
        let all: Vec<f32> = many.iter().flat_map(|a| a.values.clone()).collect();
        let x = tensor(cx, work, &[BATCH, M, K], &all)?;
        let y = tensor(cx, work, &[K, N], &b.values)?;
        let repeated: Vec<f32> = (0..BATCH).flat_map(|_| b.values.clone()).collect();
        let own = tensor(cx, work, &[BATCH, K, N], &repeated)?;
        let wanted: Vec<f64> = many.iter().flat_map(|a| a.times(&b)).collect();
        let plan = Matmul::<f32>::plan(M, N, K).batch(BATCH);
        for shares in [true, false] {
            let mut c = cx.tensor([BATCH, M, N], work)?;
            if shares {
                plan.share_b().on(cx, work)?.execute(work, &x, &y, &mut c)?;
            } else {
                plan.on(cx, work)?.execute(work, &x, &own, &mut c)?;
            }
            close(&work.download_blocking(&c)?, &wanted, K)?;
        }
        Ok(())
    })
}

fn gelu(x: f64) -> f64 {
    let inner = (2.0 / std::f64::consts::PI).sqrt() * (x + 0.044715 * x.powi(3));
    0.5 * x * (1.0 + inner.tanh())
}

fn epilogue<T: Real + EpilogueElement>(platform: &Platform) -> Result<(), Failed> {
    const M: usize = 16;
    const N: usize = 24;
    const K: usize = 32;
    once(platform, |cx, work, _| {
        let mut random = Random::new(9);
        let (a, b) = (Matrix::<T>::random(M, K, &mut random), Matrix::random(K, N, &mut random));
        let bias = Matrix::<T>::random(1, N, &mut random);
        let (x, y) = (tensor(cx, work, &[M, K], &a.values)?, tensor(cx, work, &[K, N], &b.values)?);
        let added = tensor(cx, work, &[N], &bias.values)?;
        let product = a.times(&b);
        let with_bias: Vec<f64> =
            product.iter().enumerate().map(|(i, x)| x + bias.at(0, i % N)).collect();
        type Function = fn(f64) -> f64;
        let functions: [Function; 3] = [|x| x, |x| x.max(0.0), gelu];
        let apply = |sums: &[f64], f: Function| sums.iter().map(|&x| f(x)).collect::<Vec<_>>();
        fn chosen<T: EpilogueElement, E>(plan: Planner<T, E>, index: usize) -> Planner<T, E> {
            match index {
                0 => plan,
                1 => plan.relu(),
                _ => plan.gelu(),
            }
        }
        for (index, function) in functions.into_iter().enumerate() {
            let plan = Matmul::<T>::plan(M, N, K);
            let mut c = cx.tensor([M, N], work)?;
            let mut bare = chosen(plan, index).on(cx, work)?;
            bare.execute(work, &x, &y, &mut c)?;
            close(&work.download_blocking(&c)?, &apply(&product, function), K)?;
            let mut biased = chosen(plan.bias(), index).on(cx, work)?;
            biased.execute(work, &x, &y, &added, &mut c)?;
            close(&work.download_blocking(&c)?, &apply(&with_bias, function), K)?;
        }
        Ok(())
    })
}

fn epilogues(platform: &Platform) -> Result<(), Failed> {
    epilogue::<f32>(platform)?;
    epilogue::<f16>(platform)?;
    epilogue::<bf16>(platform)
}

fn empty(platform: &Platform) -> Result<(), Failed> {
    once(platform, |cx, work, _| {
        for (m, n, batch) in
            [(0, 3, None), (3, 0, None), (0, 0, None), (2, 3, Some(0)), (0, 3, Some(2))]
        {
            let plan = Matmul::<f32>::plan(m, n, 4);
            let mut plan = batch.map_or(plan, |count| plan.batch(count)).on(cx, work)?;
            let shape = |rows, cols| batch.into_iter().chain([rows, cols]).collect::<Vec<usize>>();
            let (a, b) = (cx.tensor(&*shape(m, 4), work)?, cx.tensor(&*shape(4, n), work)?);
            let mut c = cx.tensor(&*shape(m, n), work)?;
            plan.execute(work, &a, &b, &mut c)?;
            check_equal(work.download_blocking(&c)?, vec![])?;
        }
        Ok(())
    })
}

fn scaled(platform: &Platform) -> Result<(), Failed> {
    once(platform, |cx, work, _| {
        let (a, b) =
            (tensor(cx, work, &[1, 2], &[1.0, 2.0])?, tensor(cx, work, &[2, 1], &[3.0, 4.0])?);
        let mut c = tensor(cx, work, &[1, 1], &[f32::NAN])?;
        let mut plan = Matmul::plan(1, 1, 2).alpha(2.0).on(cx, work)?;
        plan.execute(work, &a, &b, &mut c)?;
        check_equal(work.download_blocking(&c)?, vec![22.0])?;
        plan.scale(work, 1.0, -0.5)?;
        plan.execute(work, &a, &b, &mut c)?;
        check_equal(work.download_blocking(&c)?, vec![0.0])?;
        let mut plan = Matmul::plan(1, 1, 2).beta(1.0).on(cx, work)?;
        plan.execute(work, &a, &b, &mut c)?;
        plan.execute(work, &a, &b, &mut c)?;
        check_equal(work.download_blocking(&c)?, vec![22.0])
    })
}

fn nan(platform: &Platform) -> Result<(), Failed> {
    once(platform, |cx, work, _| {
        let a = tensor(cx, work, &[2, 2], &[1.0, f32::NAN, 1.0, 2.0])?;
        let b = tensor(cx, work, &[2, 2], &[1.0_f32, 0.0, 0.0, 1.0])?;
        let mut c = cx.tensor([2, 2], work)?;
        Matmul::plan(2, 2, 2).on(cx, work)?.execute(work, &a, &b, &mut c)?;
        let found = work.download_blocking(&c)?;
        check(found[0].is_nan() && found[1].is_nan(), || format!("{found:?}"))?;
        check_equal(&found[2..], &[1.0, 2.0])
    })
}

/// Checks that `f32` computes with full precision, and that TF32 has an error that shows.
fn tf32(platform: &Platform) -> Result<(), Failed> {
    const N: usize = 64;
    once(platform, |cx, work, _| {
        let mut random = Random::new(1);
        let (a, b) = (Matrix::<f32>::random(N, N, &mut random), Matrix::random(N, N, &mut random));
        let (x, y) = (tensor(cx, work, &[N, N], &a.values)?, tensor(cx, work, &[N, N], &b.values)?);
        let wanted = a.times(&b);
        let mut c = cx.tensor([N, N], work)?;
        let mut worst = |plan: Planner<f32>| {
            plan.on(cx, work)?.execute(work, &x, &y, &mut c)?;
            let found = work.download_blocking(&c)?;
            let off = found.iter().zip(&wanted).map(|(found, wanted)| (found.get() - wanted).abs());
            Ok::<_, Failure>(off.fold(0.0, f64::max))
        };
        let (plain, fast) = (worst(Matmul::plan(N, N, N))?, worst(Matmul::plan(N, N, N).tf32())?);
        check(plain < 1e-5 && fast > 1e-4 && fast < 2e-2, || format!("{plain:e}, {fast:e}"))
    })
}

fn stateless(platform: &Platform) -> Result<(), Failed> {
    ticks(platform, 3, |cx, work, other| {
        let mut random = Random::new(cx.tick());
        for stream in [work, other] {
            for [m, n, k] in [[3, 4, 5], [5, 4, 3]] {
                let (a, b) =
                    (Matrix::<f32>::random(m, k, &mut random), Matrix::random(k, n, &mut random));
                let x = tensor(cx, stream, &[m, k], &a.values)?;
                let y = tensor(cx, stream, &[k, n], &b.values)?;
                let c = multiply(cx, stream, &x, &y)?;
                check_equal(c.shape(), &[m, n])?;
                close(&stream.download_blocking(&c)?, &a.times(&b), k)?;
                let (x, y) = (x.reshape([1, m, k])?, y.reshape([1, k, n])?);
                check_equal(multiply(cx, stream, &x, &y)?.shape(), &[1, m, n])?;
                let on_host = multiply_host_blocking(cx, (&a.values, [m, k]), (&b.values, [k, n]))?;
                close(&on_host, &a.times(&b), k)?;
            }
        }
        Ok(())
    })
}
