//! A discrete Fourier transform by its definition in `f64`, and the numbers to transform.

use std::f64::consts::TAU;

use streamflow::memory::Complex;
use streamflow_math::fft::Real;
use streamflow_tests::random::Random;

/// A complex number of the reference.
pub(super) type C64 = Complex<f64>;

/// The real type of a transform under test.
pub(super) trait Tested: Real + Into<f64> + 'static {
    const EPSILON: f64;
    fn of(value: f64) -> Self;
    fn complex(value: C64) -> Complex<Self> {
        Complex { re: Self::of(value.re), im: Self::of(value.im) }
    }
}

impl Tested for f32 {
    const EPSILON: f64 = f32::EPSILON as f64;
    fn of(value: f64) -> Self {
        value as f32
    }
}

impl Tested for f64 {
    const EPSILON: f64 = f64::EPSILON;
    fn of(value: f64) -> Self {
        value
    }
}

/// Returns numbers from -1 to 1 that both types represent exactly.
pub(super) fn numbers(count: usize, seed: u64) -> Vec<f64> {
    Random::new(seed).floats(count).into_iter().map(f64::from).collect()
}

pub(super) fn complex_numbers(count: usize, seed: u64) -> Vec<C64> {
    numbers(2 * count, seed).chunks(2).map(|pair| Complex::new(pair[0], pair[1])).collect()
}

/// Returns the unnormalised transform, by its definition, of an array with these lengths, the last of which
/// varies fastest.
pub(super) fn dft(x: &[C64], lengths: &[usize], is_inverse: bool) -> Vec<C64> {
    let mut data = x.to_vec();
    let mut step = 1;
    for &n in lengths.iter().rev() {
        let sign = if is_inverse { 1.0 } else { -1.0 };
        let turns: Vec<C64> =
            (0..n).map(|k| C64::from_polar(1.0, sign * TAU * k as f64 / n as f64)).collect();
        let from = data.clone();
        for (i, to) in data.iter_mut().enumerate() {
            let k = i / step % n;
            let first = i - k * step;
            *to = (0..n).map(|j| from[first + j * step] * turns[j * k % n]).sum();
        }
        step *= n;
    }
    data
}
