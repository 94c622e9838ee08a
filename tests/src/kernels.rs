//! Kernels that are slow on request.

use streamflow::prelude::*;

/// out[i] = source[i], read after `cycles` clock cycles. The simulator needs no delay: its seed
/// decides what is late.
#[kernel(
    requires(out.len() == source.len()),
    unsafe cuda = "
        long long start = clock64();
        while (clock64() - start < (long long)cycles) {}
        unsigned long long i = thread_index();
        if (i < out_len) out[i] = ((volatile const float*)source)[i];"
)]
pub fn slow_copy(out: &mut [f32], source: &[f32], cycles: u64) {
    let _ = cycles;
    out.copy_from_slice(source);
}

/// out[i] = value, written after `cycles` clock cycles.
#[kernel(unsafe cuda = "
    long long start = clock64();
    while (clock64() - start < (long long)cycles) {}
    unsigned long long i = thread_index();
    if (i < out_len) out[i] = value;")]
pub fn slow_fill(out: &mut [f32], value: f32, cycles: u64) {
    let _ = cycles;
    out.fill(value);
}

/// data[i] += 1
#[kernel(unsafe cuda = "
    unsigned long long i = thread_index();
    if (i < data_len) data[i] += 1.0f;")]
pub fn add_one(data: &mut [f32]) {
    data.iter_mut().for_each(|x| *x += 1.0);
}
