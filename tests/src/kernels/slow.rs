//! Kernels that are slow on purpose. On a GPU they keep their stream busy for a number of clock cycles, so that a missing
//! wait gives wrong data. On the simulator they are not slow: its seeds delay the work instead.

use streamflow::prelude::*;

/// Waits `cycles` clock cycles (about 1 500 000 in a millisecond) and does not write `out`.
///
/// `out` counts as written, so that the launch is ordered like a write.
#[kernel(partial, unsafe cuda = "
    long long start = clock64();
    while (clock64() - start < (long long)cycles) {}
    if (out_len == 0) return;
")]
pub fn spin(out: &mut [f32], cycles: u64) {
    let _ = (out, cycles);
}

/// Waits `cycles` clock cycles, then writes `value` to all elements.
#[kernel(unsafe cuda = "
    long long start = clock64();
    while (clock64() - start < (long long)cycles) {}
    unsigned long long i = thread_index();
    if (i < out_len) out[i] = value;
")]
pub fn slow_fill(out: &mut [f32], value: f32, cycles: u64) {
    let _ = cycles;
    out.fill(value);
}

/// Waits `cycles` clock cycles, then copies: a slow reader of `input`.
#[kernel(requires(out.len() == input.len()), unsafe cuda = "
    long long start = clock64();
    while (clock64() - start < (long long)cycles) {}
    unsigned long long i = thread_index();
    // Volatile, so that the compiler can't read before the wait.
    if (i < out_len) out[i] = *(const volatile float*)&input[i];
")]
pub fn slow_copy(out: &mut [f32], input: &[f32], cycles: u64) {
    let _ = cycles;
    out.copy_from_slice(input);
}

/// Writes `value` to all elements, without waiting.
#[kernel(unsafe cuda = "
    unsigned long long i = thread_index();
    if (i < out_len) out[i] = value;
")]
pub fn fill(out: &mut [f32], value: f32) {
    out.fill(value);
}

/// Adds one to each element.
#[kernel(unsafe cuda = "
    unsigned long long i = thread_index();
    if (i < data_len) data[i] += 1.0f;
")]
pub fn add_one(data: &mut [f32]) {
    data.iter_mut().for_each(|x| *x += 1.0);
}

/// Writes the sum of the products to `out[0]`. One thread does all the work.
#[kernel(partial, requires(a.len() == b.len()), unsafe cuda = "
    if (thread_index() != 0 || out_len == 0) return;
    float sum = 0.0f;
    for (unsigned long long i = 0; i < a_len; i++) sum += a[i] * b[i];
    out[0] = sum;
")]
pub fn dot(out: &mut [f32], a: &[f32], b: &[f32]) {
    if let Some(out) = out.first_mut() {
        *out = a.iter().zip(b).map(|(a, b)| a * b).sum();
    }
}

/// Writes for each thread the number of the multiprocessor that it ran on. Each thread first waits `cycles` clock cycles,
/// so that the blocks spread over all permitted multiprocessors. On the host there is one multiprocessor.
#[kernel(unsafe cuda = "
    long long start = clock64();
    while (clock64() - start < (long long)cycles) {}
    unsigned int number;
    asm volatile(\"mov.u32 %0, %smid;\" : \"=r\"(number));
    unsigned long long i = thread_index();
    if (i < out_len) out[i] = number;
")]
pub fn multiprocessor(out: &mut [u32], cycles: u64) {
    let _ = cycles;
    out.fill(0);
}
