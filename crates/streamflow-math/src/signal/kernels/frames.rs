//! The steps of transforms beside the transform itself: segments of signals and their sum, and the spectrum of an analytic signal.

use std::ops::{AddAssign, Mul};

use streamflow::memory::Complex;
use streamflow::{Element, kernel};

/// Segments of signals of `len` samples, multiplied by the window: segment `p` of the `segments` of a row begins `before` samples
/// before sample `p * hop`. Beyond the signal, samples are 0.
#[kernel(
    instances(f32, Complex<f32>),
    requires(
        segments > 0,
        !window.is_empty(),
        out.len() % (segments * window.len()) == 0,
        signals.len() == out.len() / (segments * window.len()) * len
    ),
    unsafe cuda = "
    unsigned long long n = thread_index();
    if (n >= out_len) return;
    const unsigned long long i = n % window_len, p = n / window_len % segments, row = n / window_len / segments;
    const unsigned long long at = p * hop + i;
    out[n] = at >= before && at - before < len ? signals[row * len + (at - before)] * window[i] : T(0);
"
)]
pub fn frame<T: Element + Mul<f32, Output = T>>(
    out: &mut [T],
    signals: &[T],
    window: &[f32],
    len: usize,
    segments: usize,
    hop: usize,
    before: usize,
) {
    for (n, out) in out.iter_mut().enumerate() {
        let (i, p) = (n % window.len(), n / window.len() % segments);
        let row = &signals[n / window.len() / segments * len..][..len];
        let sample = (p * hop + i).checked_sub(before).and_then(|at| row.get(at));
        *out = sample.map_or_else(T::default, |sample| *sample * window[i]);
    }
}

/// Signals of `len` samples from their segments: the sum of the segments, each multiplied by the window, divided by the sum of
/// the window's squares there. A sum of squares up to 1e-10 does not divide. Each sample is also multiplied by `scale`.
#[kernel(
    instances(f32, Complex<f32>),
    requires(
        segments > 0,
        hop > 0,
        out.is_empty() || len > 0 && out.len() % len == 0,
        out.is_empty() || out.len() / len * segments * window.len() == frames.len()
    ),
    unsafe cuda = "
    unsigned long long n = thread_index();
    if (n >= out_len) return;
    const unsigned long long at = n % len + before, row = n / len * segments;
    // The segments from `first` on have this sample.
    const unsigned long long first = at < window_len ? 0 : (at - window_len) / hop + 1;
    T sum = T(0);
    float squares = 0.0f;
    for (unsigned long long p = first; p < segments && p * hop <= at; p++) {
        const float weight = window[at - p * hop];
        sum += frames[(row + p) * window_len + (at - p * hop)] * weight;
        squares += weight * weight;
    }
    out[n] = sum * (squares > 1e-10f ? scale / squares : scale);
"
)]
#[allow(clippy::too_many_arguments, reason = "a kernel takes the fields of a struct one by one")]
pub fn overlap<T: Element + Mul<f32, Output = T> + AddAssign>(
    out: &mut [T],
    frames: &[T],
    window: &[f32],
    len: usize,
    segments: usize,
    hop: usize,
    before: usize,
    scale: f32,
) {
    for (n, out) in out.iter_mut().enumerate() {
        let (at, row) = (n % len + before, n / len * segments);
        let first = if at < window.len() { 0 } else { (at - window.len()) / hop + 1 };
        let (mut sum, mut squares) = (T::default(), 0.0);
        for p in (first..segments).take_while(|p| p * hop <= at) {
            let weight = window[at - p * hop];
            sum += frames[(row + p) * window.len() + (at - p * hop)] * weight;
            squares += weight * weight;
        }
        *out = sum * if squares > 1e-10 { scale / squares } else { scale };
    }
}

/// The spectra of analytic signals of `len` samples, from the first halves of the spectra of their real parts: the frequencies
/// below 0 are 0, and those above are twice as large. All are multiplied by `scale`.
#[kernel(
    requires(len > 0, out.len() % len == 0, spectra.len() == out.len() / len * (len / 2 + 1)),
    unsafe cuda = "
    unsigned long long n = thread_index();
    if (n >= out_len) return;
    const unsigned long long k = n % len, bins = len / 2 + 1;
    // The frequency 0, and that of half the sample rate, are their own negatives.
    const float factor = k == 0 || 2 * k == len ? scale : 2.0f * scale;
    out[n] = k < bins ? spectra[n / len * bins + k] * factor : complex<float>(0);
"
)]
pub fn analytic(out: &mut [Complex<f32>], spectra: &[Complex<f32>], len: usize, scale: f32) {
    let bins = len / 2 + 1;
    for (n, out) in out.iter_mut().enumerate() {
        let k = n % len;
        let factor = if k == 0 || 2 * k == len { scale } else { 2.0 * scale };
        *out = if k < bins { spectra[n / len * bins + k] * factor } else { Complex::default() };
    }
}
