//! Kernels that take strided views.

use std::ops::Mul;

use streamflow::kernel::Strided;
use streamflow::memory::{Complex, bf16};
use streamflow::prelude::*;

/// Computes `out[y, x] = factor * a[y, x]`. The grid is `[cols, rows]`.
#[kernel(
    instances(f32, bf16, Complex<f64>),
    requires(out.shape() == a.shape()),
    unsafe cuda = "
    unsigned long long x = thread_index(), y = thread_index_y();
    if (y < out.shape(0) && x < out.shape(1)) out(y, x) = factor * a(y, x);
")]
pub fn scale_view<T: Element + Mul<Output = T>>(
    out: &mut Strided<T, 2>,
    a: &Strided<T, 2>,
    factor: T,
) {
    for at in out.indices() {
        out[at] = factor * a[at];
    }
}

/// Adds a slice to a view of three dimensions and to a view of one dimension, by the index of the element. Writes two
/// views.
#[kernel(
    requires(out.shape() == a.shape(), line.len() == b.len(), out.len() == b.len()),
    unsafe cuda = "
    unsigned long long i = thread_index();
    if (i >= out.size()) return;
    out[i] = a[i] + b[i];
    line(i) = 2.0f * b[i] + line.stride(0);
")]
pub fn add_views(
    out: &mut Strided<f32, 3>,
    line: &mut Strided<f32, 1>,
    a: &Strided<f32, 3>,
    b: &[f32],
) {
    let stride = line.strides()[0] as f32;
    for (i, at) in out.indices().enumerate() {
        out[at] = a[at] + b[i];
        line[[i]] = 2.0 * b[i] + stride;
    }
}

/// Writes the index of each element. The grid's threads loop over the elements.
#[kernel(
    grid_stride,
    unsafe cuda = "
    for (auto i = thread_index(); i < out.size(); i += thread_count()) out[i] = from + i;
")]
pub fn number_view(out: &mut Strided<u32, 2>, from: u32) {
    for (i, at) in out.indices().enumerate() {
        out[at] = from + i as u32;
    }
}
