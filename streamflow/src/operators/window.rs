//! Windows, as a transform needs them.

use std::f64::consts::TAU;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Mul;

use crate::context::{ExecutionContext, Table};
use crate::error::failure::Result;
use crate::kernel;
use crate::memory::{Element, Tensor};
use crate::operator::Compute;
use streamflow_macros::operator;

/// Multiplies signals by a window, in place: before a Fourier transform, so that a tone is one peak.
///
/// A message has signals of the shape `[…, length]`, real or complex, where the length is that of the window. The windows
/// are *periodic*, as a transform needs them, and as SciPy's `signal.get_window` makes them.
///
/// ```
/// # use streamflow::memory::Complex;
/// # use streamflow::prelude::*;
/// use streamflow::operators::Window;
/// let window: Window<Complex<f32>> = Window::hann(1024);
/// ```
#[operator(no_new)]
pub struct Window<T: Element + Mul<f32, Output = T>> {
    /// The signals.
    #[input]
    signal: Tensor<T>,
    /// The same memory, multiplied.
    #[output]
    windowed: Tensor<T>,
    weights: Table<f32>,
    of: PhantomData<T>,
}

impl<T: Element + Mul<f32, Output = T>> Window<T> {
    /// A window of these weights.
    pub fn new(weights: impl Into<Vec<f32>>) -> Self {
        Self { weights: Table::new(weights), of: PhantomData }
    }

    /// Hann's window: 0.5 - 0.5 cos(2πi / length).
    pub fn hann(len: usize) -> Self {
        Self::of_cosines(len, &[0.5, -0.5])
    }

    /// Hamming's window: 0.54 - 0.46 cos(2πi / length).
    pub fn hamming(len: usize) -> Self {
        Self::of_cosines(len, &[0.54, -0.46])
    }

    /// Blackman's window: 0.42 - 0.5 cos(2πi / length) + 0.08 cos(4πi / length).
    pub fn blackman(len: usize) -> Self {
        Self::of_cosines(len, &[0.42, -0.5, 0.08])
    }

    /// The sum of `factors[k]` cos(2πki / length).
    fn of_cosines(len: usize, factors: &[f64]) -> Self {
        let weight = |i: usize| -> f64 {
            let term =
                |(k, factor): (usize, &f64)| factor * (TAU * (k * i) as f64 / len as f64).cos();
            factors.iter().enumerate().map(term).sum()
        };
        Self::new((0..len).map(|i| weight(i) as f32).collect::<Vec<_>>())
    }
}

#[diagnostic::do_not_recommend]
impl<T: Element + Mul<f32, Output = T>> Compute for Window<T> {
    fn compute(&mut self, io: Self::Io<'_>, cx: &ExecutionContext) -> Result<()> {
        let (mut signal, stream) = io.signal.receive().receive_cuda_stream(cx)?;
        let (weights, length) = (self.weights.on(cx)?, signal.cols());
        stream.launch::<multiply_rows<T>>(signal.len(), (&mut signal, weights, length))?;
        io.windowed.emit(signal)
    }
}

impl<T: Element + Mul<f32, Output = T>> fmt::Debug for Window<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Window").field("weights", &self.weights).finish_non_exhaustive()
    }
}

/// `signals[row, i] *= weights[i]`
#[kernel(
    requires(length == weights.len(), signals.is_empty() || signals.len() % length == 0),
    unsafe cuda = "
    unsigned long long n = thread_index();
    if (n < signals_len) signals[n] = signals[n] * weights[n % length];
"
)]
pub fn multiply_rows<T: Element + Mul<f32, Output = T>>(
    signals: &mut [T],
    weights: &[f32],
    length: usize,
) {
    for signal in signals.chunks_exact_mut(length.max(1)) {
        for (value, weight) in signal.iter_mut().zip(weights) {
            *value = *value * *weight;
        }
    }
}
