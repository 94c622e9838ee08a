#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::*;
use crate::ffi::cublaslt::epilogue::Activation;
use streamflow::memory::Complex;
use streamflow_driver::splitmix::SplitMix;

/// A product to test, without the values of its matrices.
#[derive(Debug, Clone, Copy)]
struct Case {
    sizes: [usize; 3],
    batch: Option<usize>,
    transposed: [bool; 2],
    /// The number of unused elements after each row, and after each matrix.
    padding: usize,
    activation: Activation,
    is_tf32: bool,
}

const CASE: Case = Case {
    sizes: [3, 4, 5],
    batch: None,
    transposed: [false; 2],
    padding: 0,
    activation: Activation::None,
    is_tf32: false,
};

impl Case {
    fn problem(self, has_bias: bool) -> Problem {
        let [m, n, k] = self.sizes;
        let stored = |name, rows, cols, is_transposed| {
            let (rows, cols) = if is_transposed { (cols, rows) } else { (rows, cols) };
            let leading = cols + self.padding;
            let apart = self.batch.map(|_| rows * leading + self.padding);
            Stored { name, rows, cols, leading, apart, is_transposed }
        };
        let problem = Problem {
            m,
            n,
            k,
            batch: self.batch,
            a: stored("a", m, k, self.transposed[0]),
            b: stored("b", k, n, self.transposed[1]),
            c: stored("c", m, n, false),
            has_bias,
            activation: self.activation,
            is_tf32: self.is_tf32,
            alignment: 256,
        };
        problem.check("test").unwrap();
        problem
    }
}

fn len(stored: &Stored, problem: &Problem) -> usize {
    let last = stored.rows.saturating_sub(1) * stored.leading + stored.cols;
    stored.apart.unwrap_or(0) * (problem.products() - 1) + last
}

/// Calls [`products`] with matrices in slices.
fn of_slices<T: MatmulElement>(
    problem: &Problem,
    (a, b): (&[T], &[T]),
    c: &mut [T],
    bias: &[T],
    scales: (T::Scale, T::Scale),
    scratch: &mut Scratch<T::Scale>,
) {
    products(problem, (&a.into(), &b.into()), &mut c.into(), bias, scales, scratch);
}

/// Returns random numbers from -1 to 1.
fn numbers(count: usize, seed: u64) -> Vec<f64> {
    let mut random = SplitMix::new(seed);
    (0..count).map(|_| (random.bits() >> 40) as f64 / f64::from(1 << 23) - 1.0).collect()
}

/// Returns the element in a row and a column of a matrix. If the matrix is stored transposed, the row and the column are those of
/// its transpose.
fn at<T: Copy>(stored: &Stored, all: &[T], product: usize, row: usize, col: usize) -> T {
    let (row, col) = if stored.is_transposed { (col, row) } else { (row, col) };
    all[stored.apart.unwrap_or(0) * product + row * stored.leading + col]
}

/// Returns the largest error of a real product, in units of `sqrt(k) ε`, and whether the padding is
/// unchanged.
fn error_of<T: MatmulElement<Scale = S>, S: Copy + PartialEq>(
    case: Case,
    (alpha, beta): (f64, f64),
    has_bias: bool,
    make: fn(f64) -> T,
    scale: fn(f64) -> S,
    back: fn(T) -> f64,
    epsilon: f64,
) -> f64
where
    Scratch<S>: Default,
{
    let problem = case.problem(has_bias);
    let rounded = |count, seed| numbers(count, seed).into_iter().map(make).collect::<Vec<T>>();
    let a = rounded(len(&problem.a, &problem), 1);
    let b = rounded(len(&problem.b, &problem), 2);
    let before = rounded(len(&problem.c, &problem), 3);
    let bias = if has_bias { rounded(problem.n, 4) } else { Vec::new() };
    let mut c = before.clone();
    let mut scratch = Scratch::default();
    of_slices::<T>(&problem, (&a, &b), &mut c, &bias, (scale(alpha), scale(beta)), &mut scratch);

    let (mut worst, mut written) = (0.0_f64, vec![false; c.len()]);
    for product in 0..problem.products() {
        for row in 0..problem.m {
            for col in 0..problem.n {
                let terms = (0..problem.k).map(|k| {
                    let a = back(at(&problem.a, &a, product, row, k));
                    a * back(at(&problem.b, &b, product, k, col))
                });
                let index = problem.c.apart.unwrap_or(0) * product + row * problem.c.leading + col;
                let mut sum = alpha * terms.sum::<f64>() + beta * back(before[index]);
                sum += bias.get(col).map_or(0.0, |&bias| back(bias));
                let wanted = match case.activation {
                    Activation::None => sum,
                    Activation::Relu => sum.max(0.0),
                    Activation::Gelu => {
                        let inner =
                            (2.0 / std::f64::consts::PI).sqrt() * (sum + 0.044715 * sum.powi(3));
                        0.5 * sum * (1.0 + inner.tanh())
                    }
                };
                let unit = epsilon * (problem.k as f64).sqrt();
                worst = worst.max((back(c[index]) - wanted).abs() / unit);
                written[index] = true;
            }
        }
    }
    for (index, _) in written.iter().enumerate().filter(|(_, written)| !**written) {
        assert!(back(c[index]) == back(before[index]), "padding {index} is written");
    }
    worst
}

fn f32_error(case: Case, scales: (f64, f64), has_bias: bool) -> f64 {
    let (to, back) = (|x: f64| x as f32, f64::from);
    error_of::<f32, f32>(case, scales, has_bias, to, to, back, f64::from(f32::EPSILON))
}

fn f64_error(case: Case, scales: (f64, f64)) -> f64 {
    let same = |x: f64| x;
    error_of::<f64, f64>(case, scales, false, same, same, same, f64::EPSILON)
}

/// The largest error that the tests permit, in units of `sqrt(k) ε`, for numbers up to 1.
const FEW: f64 = 8.0;

#[test]
fn products_of_many_sizes_are_those_of_double_precision() {
    let lengths = [1, 2, 7, 16, 31, 64, 97];
    for (i, m) in lengths.into_iter().enumerate() {
        for (j, n) in lengths.into_iter().enumerate() {
            let k = lengths[(2 * i + 3 * j) % lengths.len()];
            let case = Case { sizes: [m, n, k], ..CASE };
            assert!(f32_error(case, (1.0, 0.0), false) < FEW, "{case:?}");
            assert!(f64_error(case, (1.0, 0.0)) < FEW, "{case:?}");
        }
    }
}

#[test]
fn each_layout_gives_the_product() {
    for (transposed, batch, padding) in [false, true]
        .into_iter()
        .flat_map(|a| [false, true].map(|b| [a, b]))
        .flat_map(|transposed| [None, Some(1), Some(3)].map(|batch| (transposed, batch)))
        .flat_map(|(transposed, batch)| [0, 5].map(|padding| (transposed, batch, padding)))
    {
        let sizes = if cfg!(miri) { [2, 3, 2] } else { [9, 13, 11] };
        let case = Case { sizes, batch, transposed, padding, ..CASE };
        assert!(f32_error(case, (-0.5, 2.0), true) < FEW, "{case:?}");
        assert!(f64_error(case, (-0.5, 2.0)) < FEW, "{case:?}");
    }
}

#[test]
fn activations_come_after_the_bias() {
    for activation in [Activation::None, Activation::Relu, Activation::Gelu] {
        for has_bias in [false, true] {
            let case = Case { sizes: [17, 19, 23], activation, ..CASE };
            assert!(f32_error(case, (1.0, 0.0), has_bias) < FEW, "{case:?}");
        }
    }
}

#[test]
fn tf32_is_less_precise_than_f32_and_no_worse_than_ten_bits() {
    let case = Case { sizes: [16, 16, 64], is_tf32: true, ..CASE };
    let error = f32_error(case, (1.0, 0.0), false) * f64::from(f32::EPSILON);
    assert!(error > 1e-5 && error < 2e-3, "{error:e}");
}

#[cfg(feature = "half")]
#[test]
fn halves_are_summed_in_single_precision_and_rounded_once() {
    use streamflow::{f16, memory::bf16};

    let to = |x: f64| x as f32;
    let case = Case {
        sizes: [8, 9, 301],
        transposed: [true, false],
        activation: Activation::Relu,
        ..CASE
    };
    // Sums of 301 terms are below 32, so one rounding of the result is 16 units. Sums in `f16` would have larger errors.
    let f16s = error_of::<f16, f32>(
        case,
        (1.0, 0.5),
        true,
        f16::from_f64,
        to,
        f16::to_f64,
        f64::from(f16::EPSILON),
    );
    let bf16s = error_of::<bf16, f32>(
        case,
        (1.0, 0.5),
        true,
        bf16::from_f64,
        to,
        bf16::to_f64,
        f64::from(bf16::EPSILON),
    );
    assert!(f16s < 1.0 && bf16s < 1.0, "{f16s} {bf16s}");
}

#[test]
fn complex_products_conjugate_nothing() {
    type C = Complex<f32>;
    let case = Case { sizes: [1, 1, 2], ..CASE };
    let (a, b) = ([C::new(1.0, 2.0), C::new(0.0, 1.0)], [C::new(3.0, -1.0), C::new(0.0, 1.0)]);
    let mut c = [C::new(f32::NAN, 0.0)];
    let scales = (C::new(0.0, 1.0), C::ZERO);
    of_slices::<C>(&case.problem(false), (&a, &b), &mut c, &[], scales, &mut Scratch::default());
    // The sum of the products is (1 + 2i)(3 - i) + i i = 4 + 5i, and `alpha` multiplies it by i.
    assert_eq!(c, [C::new(-5.0, 4.0)]);
}

#[test]
fn a_nan_passes_through_and_an_unread_one_does_not() {
    let case = Case { sizes: [2, 2, 2], activation: Activation::Relu, ..CASE };
    let (a, b) = ([1.0_f32, f32::NAN, 1.0, 1.0], [1.0_f32; 4]);
    let mut c = [f32::NAN; 4];
    of_slices::<f32>(
        &case.problem(false),
        (&a, &b),
        &mut c,
        &[],
        (1.0, 0.0),
        &mut Scratch::default(),
    );
    assert!(c[0].is_nan() && c[1].is_nan());
    assert_eq!(c[2..], [2.0, 2.0]);
}

#[test]
fn sizes_and_strides_that_cublaslt_cannot_take_are_refused_by_name() {
    let refused = |change: fn(&mut Problem)| {
        let mut problem = Case { batch: Some(2), ..CASE }.problem(false);
        change(&mut problem);
        problem.check("Matmul").unwrap_err().to_string()
    };
    assert_eq!(
        refused(|it| it.m = 1 << 31),
        "`Matmul`: `m` is 2147483648, but cuBLASLt takes at most 2147483647; divide the product"
    );
    assert!(refused(|it| it.batch = Some(1 << 31)).starts_with("`Matmul`: `batch` is 2147483648"));
    assert!(refused(|it| it.b.leading = 1 << 31).starts_with("`Matmul`: `b` is 2147483648"));
    assert_eq!(
        refused(|it| it.k = 0),
        "`Matmul`: `k` is 0: then a product has no terms; fill `c` with zeros instead"
    );
    assert_eq!(
        refused(|it| it.a.leading = 4),
        "`Matmul`: `a` has a leading dimension of 4, but its rows have 5 elements; the leading dimension is at least that"
    );
    assert_eq!(
        refused(|it| it.c.apart = Some(11)),
        "`Matmul`: `c` has 11 elements from matrix to matrix, but each has 12: the products would overlap"
    );
    assert!(refused(|it| it.a.apart = Some(1 << 62)).ends_with("no memory has as many"));
}

#[test]
fn the_scratch_is_kept_from_call_to_call() {
    let problem = CASE.problem(false);
    let (a, b, mut c) = ([1.0_f64; 15], [1.0; 20], [0.0; 12]);
    let mut scratch = Scratch::default();
    let mut places = || {
        of_slices::<f64>(&problem, (&a, &b), &mut c, &[], (1.0, 0.0), &mut scratch);
        [&scratch.a, &scratch.b, &scratch.c].map(|kept| kept.as_ptr())
    };
    let first = places();
    assert_eq!(places(), first);
}
