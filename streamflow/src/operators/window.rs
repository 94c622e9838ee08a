//! `Window`: multiplies signals by a window, as a Fourier transform needs it.

use std::f64::consts::TAU;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Mul;

use crate::context::{ExecutionContext, Table};
use crate::error::failure::{Failure, Result};
use crate::kernel;
use crate::memory::{Element, Tensor};
use crate::operator::Compute;
use streamflow_macros::operator;

/// Multiplies signals by a window, in place. Before a Fourier transform, this makes a tone appear as one peak.
///
/// A message has signals of the shape `[…, length]`, real or complex, where the length must be that of the window. The windows
/// are *periodic*, as a Fourier transform needs them and as SciPy's `signal.get_window` makes them.
///
/// ```
/// # use streamflow::memory::Complex;
/// # use streamflow::prelude::*;
/// use streamflow::operators::Window;
/// let window: Window<Complex<f32>> = Window::hann(1024);
/// ```
#[operator(no_new)]
pub struct Window<T: Element + Mul<f32, Output = T>> {
    /// The signals, of the shape `[…, length]`.
    #[input]
    signal: Tensor<T>,
    /// The input's signals, multiplied in place.
    #[output]
    windowed: Tensor<T>,
    weights: Table<f32>,
    /// A window whose weights are not computed yet. The first message computes them, if its signals have the window's length.
    cosines: Option<Cosines>,
    of: PhantomData<T>,
}

/// A window as a sum of cosines: the weight of index i is the sum over k of `factors[k]` cos(2πki / len).
#[derive(Debug, Clone, Copy)]
struct Cosines {
    len: usize,
    factors: &'static [f64],
}

impl<T: Element + Mul<f32, Output = T>> Window<T> {
    /// Creates an operator that multiplies by these weights.
    pub fn new(weights: impl Into<Vec<f32>>) -> Self {
        Self { weights: Table::new(weights), cosines: None, of: PhantomData }
    }

    /// Creates an operator with a Hann window of this length: 0.5 - 0.5 cos(2πi / length). As with all windows of this type,
    /// signals of another length fail the tick, so a wrong length is never used.
    pub fn hann(len: usize) -> Self {
        Self::of_cosines(len, &[0.5, -0.5])
    }

    /// Creates an operator with a Hamming window of this length: 0.54 - 0.46 cos(2πi / length).
    pub fn hamming(len: usize) -> Self {
        Self::of_cosines(len, &[0.54, -0.46])
    }

    /// Creates an operator with a Blackman window of this length: 0.42 - 0.5 cos(2πi / length) + 0.08 cos(4πi / length).
    pub fn blackman(len: usize) -> Self {
        Self::of_cosines(len, &[0.42, -0.5, 0.08])
    }

    fn of_cosines(len: usize, factors: &'static [f64]) -> Self {
        Self { cosines: Some(Cosines { len, factors }), ..Self::new(Vec::new()) }
    }
}

impl Cosines {
    fn weights(self) -> Vec<f32> {
        let weight = |i: usize| -> f64 {
            let term = |(k, factor): (usize, &f64)| {
                factor * (TAU * (k * i) as f64 / self.len as f64).cos()
            };
            self.factors.iter().enumerate().map(term).sum()
        };
        (0..self.len).map(|i| weight(i) as f32).collect()
    }
}

#[diagnostic::do_not_recommend]
impl<T: Element + Mul<f32, Output = T>> Compute for Window<T> {
    fn compute(&mut self, io: Self::Io<'_>, cx: &ExecutionContext) -> Result<()> {
        let (mut signal, stream) = io.signal.receive().receive_cuda_stream(cx)?;
        if let Some(cosines) = self.cosines {
            if cosines.len != signal.cols() {
                return Err(Failure::msg(format!(
                    "a window of {} weights received signals of the shape {:?}; make it as long as their last dimension",
                    cosines.len,
                    signal.shape()
                )));
            }
            self.weights = Table::new(cosines.weights());
            self.cosines = None;
        }
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

/// The kernel `signals[row, i] *= weights[i]`.
#[kernel(
    instances(f32, crate::memory::Complex<f32>),
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
