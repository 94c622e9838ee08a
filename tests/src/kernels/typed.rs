//! Kernels for every element type and every shape of grid.

use std::ops::{Add, Mul};

use streamflow::f16;
use streamflow::memory::{Complex, bf16};
use streamflow::prelude::*;

/// Computes `out = a * x + y`.
#[kernel(
    instances(f16, bf16, Complex<f32>, Complex<f64>, f32, f64, i8, i16, i32, i64, u8, u16, u32, u64),
    requires(x.len() == out.len(), y.len() == out.len()),
    unsafe cuda = "
    unsigned long long i = thread_index();
    if (i < out_len) out[i] = T(a * x[i] + y[i]);
")]
pub fn axpy<T: Element + Mul<Output = T> + Add<Output = T>>(out: &mut [T], a: T, x: &[T], y: &[T]) {
    for ((out, &x), &y) in out.iter_mut().zip(x).zip(y) {
        *out = a * x + y;
    }
}

/// Writes scalars of every type. Neighbouring parameters have different alignments.
#[kernel(
    partial,
    requires(floats.len() == 3, ints.len() == 4, naturals.len() == 5),
    unsafe cuda = "
    if (thread_index() != 0) return;
    floats[0] = double(float(f_16));
    floats[1] = f_32;
    floats[2] = f_64;
    ints[0] = i_8;
    ints[1] = i_16;
    ints[2] = i_32;
    ints[3] = i_64;
    naturals[0] = u_8;
    naturals[1] = u_16;
    naturals[2] = u_32;
    naturals[3] = u_64;
    naturals[4] = size;
")]
#[allow(clippy::too_many_arguments, reason = "one of each type")]
pub fn scalars(
    floats: &mut [f64],
    i_8: i8,
    f_64: f64,
    f_16: f16,
    u_64: u64,
    ints: &mut [i64],
    i_16: i16,
    f_32: f32,
    u_8: u8,
    size: usize,
    u_16: u16,
    i_64: i64,
    naturals: &mut [u64],
    i_32: i32,
    u_32: u32,
) {
    floats.copy_from_slice(&[f_16.to_f64(), f_32.into(), f_64]);
    ints.copy_from_slice(&[i_8.into(), i_16.into(), i_32.into(), i_64]);
    naturals.copy_from_slice(&[u_8.into(), u_16.into(), u_32.into(), u_64, size as u64]);
}

/// Transposes a matrix. The grid is `[cols, rows]`.
#[kernel(
    requires(out.len() == input.len(), out.len() == rows as usize * cols as usize),
    unsafe cuda = "
    unsigned long long x = thread_index(), y = thread_index_y();
    if (x < cols && y < rows && out_len == input_len) out[x * rows + y] = input[y * cols + x];
")]
pub fn transpose(out: &mut [i32], input: &[i32], rows: u32, cols: u32) {
    let (rows, cols) = (rows as usize, cols as usize);
    for y in 0..rows {
        for x in 0..cols {
            out[x * rows + y] = input[y * cols + x];
        }
    }
}

/// Writes the index of each element, counted row by row. The threads loop over the rows and columns.
#[kernel(grid_stride, unsafe cuda = "
    unsigned long long rows = out_len / cols, height = gridDim.y * blockDim.y;
    for (unsigned long long y = thread_index_y(); y < rows; y += height)
        for (unsigned long long x = thread_index(); x < cols; x += thread_count()) out[y * cols + x] = y * cols + x;
")]
pub fn number_in_rows(out: &mut [i32], cols: u32) {
    let _ = cols;
    for (number, out) in (0..).zip(out) {
        *out = number;
    }
}

/// Reverses the elements. Each block's threads loop over them. A block needs dynamic shared memory for all elements, four
/// bytes each; with less, the kernel writes nothing.
#[kernel(
    grid_stride,
    requires(out.len() == input.len()),
    unsafe cuda = "
    extern __shared__ unsigned int staged[];
    if (shared_bytes() / 4 < input_len) return;
    for (unsigned long long i = threadIdx.x; i < input_len; i += blockDim.x) staged[i] = input[i];
    __syncthreads();
    for (unsigned long long i = threadIdx.x; i < out_len; i += blockDim.x) {
        out[i] = staged[out_len - 1 - i];
    }
")]
pub fn reverse(out: &mut [u32], input: &[u32]) {
    for (out, input) in out.iter_mut().zip(input.iter().rev()) {
        *out = *input;
    }
}
