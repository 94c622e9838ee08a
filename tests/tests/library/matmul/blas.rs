//! Functions of cuBLAS on vectors, compared with double precision.

use std::sync::Arc;

use streamflow::prelude::*;
use streamflow_math::Plan;
use streamflow_math::matmul::{Blas, BlasElement};
use streamflow_tests::kernels::slow_fill;
use streamflow_tests::layers::Hollow;
use streamflow_tests::random::Random;
use streamflow_tests::{Failed, Suite, check, check_equal, check_error, check_text};

use super::hook::{once, tensor, ticks};
use crate::library::in_tick::is_operand;

pub(super) fn add(suite: Suite) -> Suite {
    suite
        .both("blas_is_that_of_double_precision", |platform| {
            functions::<f32>(platform, 1e-5)?;
            functions::<f64>(platform, 1e-13)
        })
        .both("blas_refuses_other_lengths", refused)
        .host("blas_refuses_vectors_of_2_to_the_31_elements", long)
        .both("blas_comes_after_the_write_of_its_vectors", late)
}

trait Number: BlasElement + From<f32> + Into<f64> {}

impl Number for f32 {}
impl Number for f64 {}

fn functions<T: Number>(platform: &Platform, tolerance: f64) -> Result<(), Failed> {
    once(platform, move |cx, work, _| {
        let mut blas = Blas::<T>::on(cx, work)?;
        let mut random = Random::new(2);
        let near = |what: &str, found: T, wanted: f64| {
            let found: f64 = found.into();
            let off = (found - wanted).abs();
            check(off <= tolerance * wanted.abs().max(1.0), || {
                format!("{what}: {found}, not {wanted}")
            })
        };
        for n in [0, 1, 3, 31, 1000] {
            let mut numbers =
                |count| (0..count).map(|_| T::from(random.signed())).collect::<Vec<T>>();
            let (x, y, matrix) = (numbers(n), numbers(n), numbers(7 * n));
            let wide = |all: &[T]| all.iter().map(|&x| x.into()).collect::<Vec<f64>>();
            let (wide_x, wide_y) = (wide(&x), wide(&y));
            let dot: f64 = wide_x.iter().zip(&wide_y).map(|(x, y)| x * y).sum();
            let norm = wide_x.iter().map(|x| x * x).sum::<f64>().sqrt();
            let (dx, mut dy) = (tensor(cx, work, &[n], &x)?, tensor(cx, work, &[n], &y)?);
            let mut result = cx.tensor([1], work)?;
            blas.dot(work, &dx, &dy, &mut result)?;
            near("dot", work.download_blocking(&result)?[0], dot)?;
            blas.norm(work, &dx, &mut result)?;
            near("norm", work.download_blocking(&result)?[0], norm)?;
            blas.axpy(work, T::from(-2.0), &dx, &mut dy)?;
            for (index, found) in work.download_blocking(&dy)?.into_iter().enumerate() {
                near("axpy", found, wide_y[index] - 2.0 * wide_x[index])?;
            }
            if n == 0 {
                continue;
            }
            let a = tensor(cx, work, &[7, n], &matrix)?;
            let mut out = tensor(cx, work, &[7], &[T::from(f32::NAN); 7])?;
            for beta in [0.0, 2.0] {
                blas.gemv(work, (T::from(0.5), &a, &dx), (T::from(beta), &mut out))?;
                let rows = wide(&matrix);
                for (row, found) in rows.chunks(n).zip(work.download_blocking(&out)?) {
                    let product: f64 = row.iter().zip(&wide_x).map(|(a, x)| a * x).sum();
                    near("gemv", found, product * (0.5 + 0.5 * f64::from(beta)))?;
                }
            }
        }
        // The squares of these numbers are too large or too small for `f32`, but their norms are not.
        for size in [1e-30_f32, 1e30] {
            let x = tensor(cx, work, &[4], &[T::from(size); 4])?;
            let mut result = cx.tensor([1], work)?;
            blas.norm(work, &x, &mut result)?;
            let found: f64 = work.download_blocking(&result)?[0].into();
            check((found / (2.0 * f64::from(size)) - 1.0).abs() < tolerance, || {
                format!("{found}")
            })?;
        }
        Ok(())
    })
}

fn refused(platform: &Platform) -> Result<(), Failed> {
    once(platform, |cx, work, other| {
        let mut blas = Blas::<f32>::on(cx, work)?;
        let (x, mut y) = (tensor(cx, work, &[2], &[1.0; 2])?, tensor(cx, work, &[3], &[1.0; 3])?);
        let text = check_error("axpy", blas.axpy(work, 1.0, &x, &mut y), is_operand)?;
        check_equal(
            text.as_str(),
            "`Blas::axpy`: `x` has 2 elements, but y has 3; they must be equal",
        )?;
        let text = check_error("dot", blas.dot(work, &x, &x, &mut y), is_operand)?;
        check_equal(text.as_str(), "`Blas::dot`: `result` has 3 elements, but the result is one")?;
        let gemv = blas.gemv(work, (1.0, &x, &x), (0.0, &mut y));
        let text = check_error("gemv", gemv, is_operand)?;
        check_equal(
            text.as_str(),
            "`Blas::gemv`: `a` has shape [2], but a matrix has two dimensions",
        )?;
        let is_other = |error: &Error| matches!(error, Error::OtherStream { .. });
        check_error("another stream", blas.axpy(other, 1.0, &x, &mut y), is_other)?;
        // The refused calls have not changed `y`.
        y.assume_written();
        check_equal(work.download_blocking(&y)?, vec![1.0; 3])
    })
}

/// Checks a cuBLAS handle that an operator keeps over several ticks.
fn late(platform: &Platform) -> Result<(), Failed> {
    let mut kept = None;
    ticks(platform, 4, move |cx, work, other| {
        let blas = match &mut kept {
            Some(blas) => blas,
            none => none.insert(Blas::<f32>::on(cx, work)?),
        };
        let (mut x, mut y) = (cx.tensor([64], other)?, tensor(cx, other, &[64], &[1.0; 64])?);
        let mut result = cx.tensor([1], work)?;
        other.launch::<slow_fill>(64, (&mut x, cx.tick() as f32, 20_000_000))?;
        blas.axpy(work, 2.0, &x, &mut y)?;
        blas.dot(work, &x, &y, &mut result)?;
        let tick = cx.tick() as f32;
        let wanted = vec![64.0 * tick * (1.0 + 2.0 * tick)];
        check_equal(work.download_blocking(&result)?, wanted)
    })
}

/// A length with one element more than a 32-bit number of cuBLAS can say.
const LONG: usize = 1 << 31;

/// A call of cuBLAS with an operand that is too long.
type TooLong = fn(&mut Plan<Blas<f32>>, &ExecutionContext, &Stream<'_>) -> Result<(), Error>;

const TOO_LONG: [(&str, TooLong); 5] = [
    ("`Blas::axpy`: `x`", |blas, cx, s| {
        let (x, mut y) = (cx.tensor([LONG], s)?, cx.tensor([LONG], s)?);
        blas.axpy(s, 2.0, &x, &mut y)
    }),
    ("`Blas::dot`: `x`", |blas, cx, s| {
        let x = cx.tensor([LONG], s)?;
        blas.dot(s, &x, &x, &mut cx.tensor([1], s)?)
    }),
    ("`Blas::norm`: `x`", |blas, cx, s| {
        blas.norm(s, &cx.tensor([LONG], s)?, &mut cx.tensor([1], s)?)
    }),
    ("`Blas::gemv`: `x`", |blas, cx, s| {
        let (a, x) = (cx.tensor([1, LONG], s)?, cx.tensor([LONG], s)?);
        blas.gemv(s, (1.0, &a, &x), (0.0, &mut cx.tensor([1], s)?))
    }),
    ("`Blas::gemv`: `y`", |blas, cx, s| {
        let (a, x) = (cx.tensor([LONG, 1], s)?, cx.tensor([1], s)?);
        blas.gemv(s, (1.0, &a, &x), (0.0, &mut cx.tensor([LONG], s)?))
    }),
];

fn long(on: &Platform) -> Result<(), Failed> {
    for (place, call) in TOO_LONG {
        let driver = Arc::new(Hollow::new(on.driver().clone()));
        let platform = Platform::builder().race_check(false).driver(driver)?;
        let done = once(&platform, move |cx, work, _| {
            let mut blas = Blas::on(cx, work)?;
            Ok(call(&mut blas, cx, work)?)
        });
        let text = check_error(place, done, |_| true)?;
        let wanted =
            "has 2147483648 elements, but cuBLAS takes at most 2147483647; divide the vector";
        check_text(&text, &["operator `Hook` failed in `compute`", place, wanted])?;
    }
    Ok(())
}
