//! The kernels of the tasks. Each thread reads one number of each input and writes one number, so that a kernel is as
//! short as one with a checkable result can be. No number is ever 0.

use streamflow::prelude::*;

use crate::kernels::mixing::step;

/// How many numbers a task makes.
pub const ELEMENTS: usize = 8;

/// Writes a hash of the tag. On a GPU it first waits for `cycles` clock cycles, so that it can be late.
#[kernel(unsafe cuda = "
    auto step = [](unsigned int h, unsigned int x) { h = (h ^ x) * 0x85ebca6bu; return h ^ (h >> 13); };
    if (cycles > 0) {
        long long start = clock64();
        while (clock64() - start < (long long)cycles) {}
    }
    unsigned long long i = thread_index();
    if (i < out_len) out[i] = step(tag, (unsigned int)i) | 1u;
")]
pub fn begin(out: &mut [u32], tag: u32, cycles: u64) {
    let _ = cycles;
    begin_on_host(out, tag);
}

/// Writes a hash of the tag and each number of the input.
#[kernel(requires(out.len() == from.len()), unsafe cuda = "
    auto step = [](unsigned int h, unsigned int x) { h = (h ^ x) * 0x85ebca6bu; return h ^ (h >> 13); };
    unsigned long long i = thread_index();
    if (i < out_len) out[i] = step(step(tag, from[i]), (unsigned int)i) | 1u;
")]
pub fn take(out: &mut [u32], from: &[u32], tag: u32) {
    take_on_host(out, from, tag);
}

/// Changes each number by a hash of the tag and each number of the input.
#[kernel(requires(data.len() == from.len()), unsafe cuda = "
    auto step = [](unsigned int h, unsigned int x) { h = (h ^ x) * 0x85ebca6bu; return h ^ (h >> 13); };
    unsigned long long i = thread_index();
    if (i < data_len) data[i] = step(step(tag, data[i]), from[i]) | 1u;
")]
pub fn absorb(data: &mut [u32], from: &[u32], tag: u32) {
    absorb_on_host(data, from, tag);
}

/// Computes on the host what [`begin`] writes.
pub(super) fn begin_on_host(out: &mut [u32], tag: u32) {
    out.iter_mut().enumerate().for_each(|(i, out)| *out = step(tag, i as u32) | 1);
}

/// Computes on the host what [`take`] writes.
pub(super) fn take_on_host(out: &mut [u32], from: &[u32], tag: u32) {
    for (i, (out, from)) in out.iter_mut().zip(from).enumerate() {
        *out = step(step(tag, *from), i as u32) | 1;
    }
}

/// Computes on the host what [`absorb`] writes.
pub(super) fn absorb_on_host(data: &mut [u32], from: &[u32], tag: u32) {
    for (data, from) in data.iter_mut().zip(from) {
        *data = step(step(tag, *data), *from) | 1;
    }
}
