//! Filters with taps: of a stream of blocks, and between two sample rates.

use std::ops::{AddAssign, Mul};

use streamflow::memory::Complex;
use streamflow::{Element, kernel};

/// `out[row, m]` is the sum of `taps[k] * x[row, (m * down - k) / up]`, over all `k` for which the index is a whole number. `x` is
/// the row's history of `past` samples, with the indices below 0, and then its `len` samples. Beyond both, samples are 0.
#[kernel(
    instances((f32, f32), (Complex<f32>, f32), (Complex<f32>, Complex<f32>)),
    requires(
        up > 0,
        down > 0,
        out.is_empty() || new_len > 0 && out.len() % new_len == 0,
        out.is_empty() || out.len() / new_len * len == signals.len(),
        out.is_empty() || out.len() / new_len * past == history.len()
    ),
    unsafe cuda = "
    unsigned long long n = thread_index();
    if (n >= out_len) return;
    const unsigned long long row = n / new_len;
    // The place of the result among the samples of the history and the signal, with zeros between the samples.
    const unsigned long long at = n % new_len * down + past * up;
    T sum = T(0);
    for (unsigned long long k = at % up; k < taps_len && k <= at; k += up) {
        const unsigned long long from = (at - k) / up;
        if (from < past) {
            sum += history[row * past + from] * taps[k];
        } else if (from - past < len) {
            sum += signals[row * len + (from - past)] * taps[k];
        }
    }
    out[n] = sum;
"
)]
#[allow(clippy::too_many_arguments, reason = "a kernel takes the fields of a struct one by one")]
pub fn filter<T: Element + Mul<W, Output = T> + AddAssign, W: Element>(
    out: &mut [T],
    signals: &[T],
    history: &[T],
    taps: &[W],
    len: usize,
    past: usize,
    new_len: usize,
    up: usize,
    down: usize,
) {
    for (n, out) in out.iter_mut().enumerate() {
        let row = n / new_len;
        let (old, new) = (&history[row * past..][..past], &signals[row * len..][..len]);
        let at = n % new_len * down + past * up;
        *out = T::default();
        for k in (at % up..taps.len().min(at + 1)).step_by(up) {
            let from = (at - k) / up;
            if let Some(sample) = old.get(from).or_else(|| new.get(from - past)) {
                *out += *sample * taps[k];
            }
        }
    }
}

/// The last `past` samples of each row: of its history, and then its `len` samples.
#[kernel(
    instances(f32, Complex<f32>),
    requires(
        past > 0,
        out.len() % past == 0,
        history.len() == out.len(),
        signals.len() == out.len() / past * len
    ),
    unsafe cuda = "
    unsigned long long n = thread_index();
    if (n >= out_len) return;
    const unsigned long long row = n / past, from = n % past + len;
    out[n] = from < past ? history[row * past + from] : signals[row * len + (from - past)];
"
)]
pub fn keep<T: Element>(out: &mut [T], signals: &[T], history: &[T], len: usize, past: usize) {
    for (n, out) in out.iter_mut().enumerate() {
        let (row, from) = (n / past, n % past + len);
        *out = match from.checked_sub(past) {
            None => history[row * past + from],
            Some(from) => signals[row * len + from],
        };
    }
}
