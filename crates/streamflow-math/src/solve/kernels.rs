//! Kernels for work that cuSOLVER has no function for: copies that find NaNs, that turn rows into columns, or that copy a part of
//! a matrix.

use crate::error::Result;
use streamflow::Element;
use streamflow::kernel;
use streamflow::memory::{Complex, DeviceSlice};
use streamflow::{ExecutionContext, Stream};

/// Copies the matrices of a batch, and marks those that have a NaN: the mark of such a matrix becomes `i32::MAX` minus its first
/// row with a NaN. The mark of any other matrix is not changed. The marks are needed since cuSOLVER factors a matrix with a NaN
/// into numbers, without an error.
///
/// If `lower` is 1, only the lower triangle is searched for NaNs.
#[kernel(
    instances(f32, f64, Complex<f32>, Complex<f64>),
    partial,
    requires(out.len() == a.len(), marks.len() * rows * columns == a.len()),
    unsafe cuda = "
    unsigned long long i = thread_index();
    if (i >= a_len) return;
    T value = a[i];
    out[i] = value;
    unsigned long long row = i / columns % rows, column = i % columns;
    if (value != value && (lower == 0 || column <= row)) {
        atomicMax(&marks[i / (rows * columns)], 2147483647 - int(row));
    }
"
)]
pub fn take<T: Element>(
    out: &mut [T],
    marks: &mut [i32],
    a: &[T],
    rows: usize,
    columns: usize,
    lower: u8,
) {
    for (i, (out, &value)) in out.iter_mut().zip(a).enumerate() {
        *out = value;
        let (row, column) = (i / columns % rows, i % columns);
        #[allow(clippy::eq_op, reason = "a NaN is not equal to itself")]
        if value != value && (lower == 0 || column <= row) {
            let mark = &mut marks[i / (rows * columns)];
            *mark = (*mark).max(i32::MAX - row as i32);
        }
    }
}

/// Copies the lower triangles of the matrices of a batch. The elements of `out` above the diagonals are not changed.
#[kernel(instances(f32, f64), partial, requires(out.len() == a.len(), n > 0), unsafe cuda = "
    unsigned long long i = thread_index();
    if (i < out_len && i % n <= i / n % n) out[i] = a[i];
")]
pub fn copy_lower<T: Element>(out: &mut [T], a: &[T], n: usize) {
    for (i, (out, &value)) in out.iter_mut().zip(a).enumerate() {
        if i % n <= i / n % n {
            *out = value;
        }
    }
}

/// Transposes a matrix, `out[column, row] = a[row, column]`. `a` has `rows` rows, and both matrices are in rows.
#[kernel(instances(f32, f64), requires(out.len() == a.len(), rows > 0, a.len() % rows == 0), unsafe cuda = "
    unsigned long long i = thread_index();
    if (i < out_len) out[i] = a[i % rows * (out_len / rows) + i / rows];
")]
pub fn transpose<T: Element>(out: &mut [T], a: &[T], rows: usize) {
    let columns = a.len() / rows;
    for (i, out) in out.iter_mut().enumerate() {
        *out = a[i % rows * columns + i / rows];
    }
}

/// Copies the upper triangle of the first `n` rows of `a` to `out`, in rows, with zeros below the diagonal. `a` is in columns, of
/// `rows` elements each.
#[kernel(instances(f32, f64), requires(out.len() == n * n, a.len() == n * rows), unsafe cuda = "
    unsigned long long i = thread_index();
    if (i >= out_len) return;
    unsigned long long row = i / n, column = i % n;
    out[i] = row <= column ? a[column * rows + row] : zero;
")]
pub fn upper<T: Element>(out: &mut [T], a: &[T], n: usize, rows: usize, zero: T) {
    for (i, out) in out.iter_mut().enumerate() {
        let (row, column) = (i / n, i % n);
        *out = if row <= column { a[column * rows + row] } else { zero };
    }
}

/// Copies the first `k` columns of each matrix of a batch to `out`, in rows. Each matrix of `a` is `n` by `n`, in columns.
#[kernel(instances(f32, f64), requires(n > 0, k > 0, k <= n, a.len() % (n * n) == 0, out.len() == a.len() / n * k), unsafe cuda = "
    unsigned long long i = thread_index();
    if (i >= out_len) return;
    unsigned long long matrix = i / (n * k), row = i / k % n, column = i % k;
    out[i] = a[(matrix * n + column) * n + row];
")]
pub fn leading_columns<T: Element>(out: &mut [T], a: &[T], n: usize, k: usize) {
    for (i, out) in out.iter_mut().enumerate() {
        let (matrix, row, column) = (i / (n * k), i / k % n, i % k);
        *out = a[(matrix * n + column) * n + row];
    }
}

/// Launches a kernel for the first time in `start`, so that CUDA compiles the kernel there, and a missing compiler is an error of
/// `start`. `launch` gets memory of one element to write, and memory of one element that is 0. On the simulator nothing is
/// launched.
pub(super) fn warm_up<T: Element>(
    cx: &ExecutionContext,
    stream: &Stream<'_>,
    launch: impl FnOnce(&mut DeviceSlice<T>, &DeviceSlice<T>) -> Result<()>,
) -> Result<()> {
    if stream.device_info()?.is_simulated {
        return Ok(());
    }
    let (mut out, mut zero) = (cx.buffer(1, stream)?, cx.buffer(1, stream)?);
    stream.fill_bytes(&mut zero, 0)?;
    launch(&mut out, &zero)
}

/// Launches [`transpose`] for the first time, by [`warm_up`].
pub(super) fn warm_up_transpose<T: Element>(
    cx: &ExecutionContext,
    stream: &Stream<'_>,
) -> Result<()> {
    warm_up(cx, stream, |out, zero| stream.launch::<transpose<T>>(1, (out, zero, 1)))
}
