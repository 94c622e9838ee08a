//! Kernels with results that identify their inputs: each element of the output depends on every element of the inputs,
//! on a tag, and on its own index. No element is ever 0. On a GPU each kernel first waits for `cycles` clock cycles,
//! so that it can be slow.

use streamflow::prelude::*;

/// Computes one step of the hash.
pub fn step(hash: u32, value: u32) -> u32 {
    let hash = (hash ^ value).wrapping_mul(0x85eb_ca6b);
    hash ^ (hash >> 13)
}

/// Computes the hash of `values`, starting from `hash`.
pub fn fold(hash: u32, values: &[u32]) -> u32 {
    values.iter().fold(hash, |hash, value| step(hash, *value))
}

/// Computes element `i` of an output whose hash is `hash`.
pub fn element(hash: u32, i: usize) -> u32 {
    step(hash, i as u32) | 1
}

/// Writes an output from the hash of the tag.
#[kernel(unsafe cuda = "
    auto step = [](unsigned int h, unsigned int x) { h = (h ^ x) * 0x85ebca6bu; return h ^ (h >> 13); };
    long long start = clock64();
    while (clock64() - start < (long long)cycles) {}
    unsigned long long i = thread_index();
    if (i < out_len) out[i] = step(tag, (unsigned int)i) | 1u;
")]
pub fn make(out: &mut [u32], tag: u32, cycles: u64) {
    let _ = cycles;
    out.iter_mut().enumerate().for_each(|(i, out)| *out = element(tag, i));
}

/// Writes an output from the hash of the tag and of each element of `a`.
#[kernel(unsafe cuda = "
    auto step = [](unsigned int h, unsigned int x) { h = (h ^ x) * 0x85ebca6bu; return h ^ (h >> 13); };
    long long start = clock64();
    while (clock64() - start < (long long)cycles) {}
    // Volatile, so that the compiler can't read before the wait.
    const volatile unsigned int* from = a;
    unsigned long long i = thread_index();
    unsigned int hash = tag;
    for (unsigned long long j = 0; j < a_len; j++) hash = step(hash, from[j]);
    if (i < out_len) out[i] = step(hash, (unsigned int)i) | 1u;
")]
pub fn map(out: &mut [u32], a: &[u32], tag: u32, cycles: u64) {
    let _ = cycles;
    let hash = fold(tag, a);
    out.iter_mut().enumerate().for_each(|(i, out)| *out = element(hash, i));
}

/// Writes an output from the hash of the tag, of `a` and then of `b`.
#[kernel(unsafe cuda = "
    auto step = [](unsigned int h, unsigned int x) { h = (h ^ x) * 0x85ebca6bu; return h ^ (h >> 13); };
    long long start = clock64();
    while (clock64() - start < (long long)cycles) {}
    const volatile unsigned int* first = a;
    const volatile unsigned int* second = b;
    unsigned long long i = thread_index();
    unsigned int hash = tag;
    for (unsigned long long j = 0; j < a_len; j++) hash = step(hash, first[j]);
    for (unsigned long long j = 0; j < b_len; j++) hash = step(hash, second[j]);
    if (i < out_len) out[i] = step(hash, (unsigned int)i) | 1u;
")]
pub fn join(out: &mut [u32], a: &[u32], b: &[u32], tag: u32, cycles: u64) {
    let _ = cycles;
    let hash = fold(fold(tag, a), b);
    out.iter_mut().enumerate().for_each(|(i, out)| *out = element(hash, i));
}

/// Changes each element in place, by the hash of the tag and `a`.
#[kernel(unsafe cuda = "
    auto step = [](unsigned int h, unsigned int x) { h = (h ^ x) * 0x85ebca6bu; return h ^ (h >> 13); };
    long long start = clock64();
    while (clock64() - start < (long long)cycles) {}
    const volatile unsigned int* from = a;
    volatile unsigned int* to = data;
    unsigned long long i = thread_index();
    unsigned int hash = tag;
    for (unsigned long long j = 0; j < a_len; j++) hash = step(hash, from[j]);
    if (i < data_len) to[i] = step(step(hash, to[i]), (unsigned int)i) | 1u;
")]
pub fn change(data: &mut [u32], a: &[u32], tag: u32, cycles: u64) {
    let _ = cycles;
    let hash = fold(tag, a);
    data.iter_mut().enumerate().for_each(|(i, data)| *data = element(step(hash, *data), i));
}

/// Changes each element of both slices in place, by the hash of the tag.
#[kernel(unsafe cuda = "
    auto step = [](unsigned int h, unsigned int x) { h = (h ^ x) * 0x85ebca6bu; return h ^ (h >> 13); };
    long long start = clock64();
    while (clock64() - start < (long long)cycles) {}
    volatile unsigned int* first = a;
    volatile unsigned int* second = b;
    unsigned long long i = thread_index();
    if (i < a_len) first[i] = step(step(tag, first[i]), (unsigned int)i) | 1u;
    if (i < b_len) second[i] = step(step(tag, second[i]), (unsigned int)i) | 1u;
")]
pub fn both(a: &mut [u32], b: &mut [u32], tag: u32, cycles: u64) {
    let _ = cycles;
    for data in [a, b] {
        data.iter_mut().enumerate().for_each(|(i, data)| *data = element(step(tag, *data), i));
    }
}

/// A mask for the bits of an element that are used as its number. They are so few that a library's `f32` sums of the
/// numbers are exact.
pub const NUMBER: u32 = 0xfff;

/// Writes the number of each element, as `f32`, for a library that computes with `f32`.
#[kernel(requires(out.len() == a.len()), unsafe cuda = "
    long long start = clock64();
    while (clock64() - start < (long long)cycles) {}
    const volatile unsigned int* from = a;
    unsigned long long i = thread_index();
    if (i < out_len) out[i] = (float)(from[i] & 0xfffu);
")]
pub fn numbers(out: &mut [f32], a: &[u32], cycles: u64) {
    let _ = cycles;
    out.iter_mut().zip(a).for_each(|(out, a)| *out = (a & NUMBER) as f32);
}

/// Writes an output from the hash of the tag and of each input number, divided by `count` and rounded.
#[kernel(requires(out.len() == a.len()), unsafe cuda = "
    auto step = [](unsigned int h, unsigned int x) { h = (h ^ x) * 0x85ebca6bu; return h ^ (h >> 13); };
    long long start = clock64();
    while (clock64() - start < (long long)cycles) {}
    const volatile float* from = a;
    unsigned long long i = thread_index();
    if (i < out_len) out[i] = step(step(tag, (unsigned int)rintf(from[i] / count)), (unsigned int)i) | 1u;
")]
pub fn from_numbers(out: &mut [u32], a: &[f32], count: f32, tag: u32, cycles: u64) {
    let _ = cycles;
    for (i, (out, a)) in out.iter_mut().zip(a).enumerate() {
        *out = element(step(tag, (a / count).round_ties_even() as u32), i);
    }
}
