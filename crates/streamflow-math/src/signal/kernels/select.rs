//! Elements in another order, and values between samples.

use std::ops::{AddAssign, Mul, Sub};

use streamflow::memory::Complex;
use streamflow::{Element, kernel};

/// `out[i, j, k, l] = a[i * s0 + j * s1 + k * s2 + l * s3]`, where `out` has the lengths `[…, n1, n2, n3]`.
#[kernel(
    instances(f32, Complex<f32>),
    requires(out.len() == a.len(), out.is_empty() || n1 > 0 && n2 > 0 && n3 > 0),
    unsafe cuda = "
    unsigned long long n = thread_index();
    if (n >= out_len) return;
    const unsigned long long l = n % n3, k = n / n3 % n2, j = n / n3 / n2 % n1, i = n / n3 / n2 / n1;
    out[n] = a[i * s0 + j * s1 + k * s2 + l * s3];
"
)]
#[allow(clippy::too_many_arguments, reason = "a kernel takes the fields of a struct one by one")]
pub fn permute<T: Element>(
    out: &mut [T],
    a: &[T],
    n1: usize,
    n2: usize,
    n3: usize,
    s0: usize,
    s1: usize,
    s2: usize,
    s3: usize,
) {
    for (n, out) in out.iter_mut().enumerate() {
        let (l, k, j, i) = (n % n3, n / n3 % n2, n / n3 / n2 % n1, n / n3 / n2 / n1);
        *out = a[i * s0 + j * s1 + k * s2 + l * s3];
    }
}

/// `out[o, p, i] = a[o, places[p], i]`, where `a` has `len` elements along that axis and `inner` after it. An element at a place
/// beyond the axis is `zero`.
#[kernel(
    instances(f32, Complex<f32>),
    requires(
        out.is_empty() || inner > 0 && !places.is_empty() && out.len() % (inner * places.len()) == 0,
        out.is_empty() || out.len() / (inner * places.len()) * len * inner == a.len()
    ),
    unsafe cuda = "
    unsigned long long n = thread_index();
    if (n >= out_len) return;
    const unsigned long long i = n % inner, from = places[n / inner % places_len], o = n / inner / places_len;
    out[n] = from < len ? a[(o * len + from) * inner + i] : zero;
"
)]
pub fn take<T: Element>(out: &mut [T], a: &[T], places: &[u64], len: usize, inner: usize, zero: T) {
    for (n, out) in out.iter_mut().enumerate() {
        let (i, from) = (n % inner, places[n / inner % places.len()] as usize);
        let o = n / inner / places.len();
        *out = if from < len { a[(o * len + from) * inner + i] } else { zero };
    }
}

/// `out[row, m]` is the value of a row of `len` samples at `places[m]` and `weights[m]` of the way to the next sample. At a place
/// beyond the row it is `outside`.
#[kernel(
    instances(f32, Complex<f32>),
    requires(
        out.is_empty() || !places.is_empty() && out.len() % places.len() == 0,
        weights.len() == places.len(),
        out.is_empty() || out.len() / places.len() * len == signals.len()
    ),
    unsafe cuda = "
    unsigned long long n = thread_index();
    if (n >= out_len) return;
    const unsigned long long m = n % places_len, from = places[m], row = n / places_len * len;
    if (from >= len) {
        out[n] = outside;
        return;
    }
    const T a = signals[row + from];
    // A sample itself does not depend on the next one, which may be a NaN.
    if (weights[m] == 0.0f) {
        out[n] = a;
        return;
    }
    T sum = a;
    sum += (signals[row + (from + 1 < len ? from + 1 : from)] - a) * weights[m];
    out[n] = sum;
"
)]
pub fn mix<T: Element + Mul<f32, Output = T> + AddAssign + Sub<Output = T>>(
    out: &mut [T],
    signals: &[T],
    places: &[u64],
    weights: &[f32],
    len: usize,
    outside: T,
) {
    for (n, out) in out.iter_mut().enumerate() {
        let m = n % places.len();
        let row = &signals[n / places.len() * len..][..len];
        let (from, weight) = (places[m] as usize, weights[m]);
        let Some(a) = row.get(from) else {
            *out = outside;
            continue;
        };
        *out = *a;
        if weight != 0.0 {
            *out += (row[(from + 1).min(len - 1)] - *a) * weight;
        }
    }
}
