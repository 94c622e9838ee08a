//! A kernel with the arithmetic of complex numbers.

use num_complex::ComplexFloat;
use streamflow::memory::Complex;
use streamflow::prelude::*;

/// How many results [`complex_math`] writes for each pair of numbers.
pub const RESULTS: usize = 14;

/// A complex number that is made of doubles.
pub trait Made: ComplexFloat<Real: Into<f64>> {
    /// Makes a number from a real and an imaginary part, rounded to the type.
    fn made(re: f64, im: f64) -> Self;
}

impl Made for Complex<f32> {
    fn made(re: f64, im: f64) -> Self {
        Self::new(re as f32, im as f32)
    }
}

impl Made for Complex<f64> {
    fn made(re: f64, im: f64) -> Self {
        Self::new(re, im)
    }
}

/// Computes each operation on two complex numbers and a real one.
#[kernel(
    instances(Complex<f32>, Complex<f64>),
    partial,
    requires(a.len() == b.len(), out.len() == RESULTS * a.len()),
    unsafe cuda = "
    unsigned long long i = thread_index();
    if (i >= a_len) return;
    Z x = a[i], y = b[i], *to = out + 14 * i;
    to[0] = x + y;
    to[1] = x - y;
    to[2] = x * y;
    to[3] = x / y;
    to[4] = Z(real(x), imag(y));
    to[5] = -conj(x);
    to[6] = Z(abs(x), arg(y));
    to[7] = exp(x);
    to[8] = polar(abs(y), arg(y));
    to[9] = x * r + 2;
    to[10] = r * x - 0.5;
    to[11] = (1 - x) / 2;
    to[12] = r / y;
    to[13] = y;
    to[13] += x, to[13] *= y, to[13] -= x, to[13] /= y;
    if (x == y || !(x != y)) to[0] = norm_sqr(x) * 2;
")]
pub fn complex_math<Z>(out: &mut [Z], a: &[Z], b: &[Z], r: <Z as ComplexFloat>::Real)
where
    Z: Element + Made<Real: Element>,
{
    for ((to, &x), &y) in out.chunks_exact_mut(RESULTS).zip(a).zip(b) {
        let real = |value: f64| Z::made(value, 0.0);
        let r = real(r.into());
        let of = |re: <Z as ComplexFloat>::Real, im: <Z as ComplexFloat>::Real| {
            Z::made(re.into(), im.into())
        };
        let size: f64 = (x.re() * x.re() + x.im() * x.im()).into();
        to.copy_from_slice(&[
            if x == y { real(size * 2.0) } else { x + y },
            x - y,
            x * y,
            x / y,
            of(x.re(), y.im()),
            -x.conj(),
            of(x.abs(), y.arg()),
            x.exp(),
            y,
            x * r + real(2.0),
            r * x - real(0.5),
            (real(1.0) - x) / real(2.0),
            r / y,
            ((y + x) * y - x) / y,
        ]);
    }
}
