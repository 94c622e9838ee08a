//! Kernels that break their device, or that use indices they must not.
#![allow(clippy::panic, reason = "on the simulator a panic is how a kernel breaks")]

use streamflow::kernel::{Kernel, KernelInfo};
use streamflow::prelude::*;

/// Writes where nothing is allocated.
#[kernel(unsafe cuda = "
    if (out_len > 0 && thread_index() == 0) *(volatile unsigned int*)16 = 1;
")]
pub fn write_to_nowhere(out: &mut [f32]) {
    panic!("there is nothing at address 16, and {} values elsewhere", out.len());
}

/// Runs into a trap.
#[kernel(unsafe cuda = r#"
    if (out_len > 0) asm volatile("trap;");
"#)]
pub fn trap(out: &mut [f32]) {
    panic!("a trap, and {} values", out.len());
}

/// Writes each element's successor, the last one's too.
#[kernel(unsafe cuda = "
    unsigned long long i = thread_index();
    if (i < out_len) out[i + 1] = value;
")]
pub fn write_past_the_end(out: &mut [f32], value: f32) {
    for i in 0..out.len() {
        out[i + 1] = value;
    }
}

/// Reads `input[at]`, wherever that is.
#[kernel(unsafe cuda = "
    if (thread_index() == 0 && out_len > 0) out[0] = input[at];
")]
pub fn read_at(out: &mut [f32], input: &[f32], at: u64) {
    out[0] = input[at as usize];
}

pub(super) fn kernels() -> Vec<&'static KernelInfo> {
    vec![write_to_nowhere::INFO, trap::INFO, write_past_the_end::INFO, read_at::INFO]
}
