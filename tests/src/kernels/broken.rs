//! Kernels that break their device, or that use indices out of bounds.
#![allow(clippy::panic, reason = "a kernel breaks on the simulator by panicking")]

use streamflow::prelude::*;

/// Writes to address 16. No memory is allocated there.
#[kernel(partial, unsafe cuda = "
    if (out_len > 0 && thread_index() == 0) *(volatile unsigned int*)16 = 1;
")]
pub fn write_to_nowhere(out: &mut [f32]) {
    panic!("address 16 is not allocated; the slice has {} values", out.len());
}

/// The compiler warns of a variable that nothing uses.
#[kernel(unsafe cuda = "
    int never = 1;
    unsigned long long i = thread_index();
    if (i < out_len) out[i] = 1;
")]
pub fn warned(out: &mut [f32]) {
    out.fill(1.0);
}

/// Executes a trap.
#[kernel(partial, unsafe cuda = r#"
    if (out_len > 0) asm volatile("trap;");
"#)]
pub fn trap(out: &mut [f32]) {
    panic!("a trap; the slice has {} values", out.len());
}

/// Writes `out[i + 1]` for each `i`, so the last write is out of bounds.
#[kernel(unsafe cuda = "
    unsigned long long i = thread_index();
    if (i < out_len) out[i + 1] = value;
")]
pub fn write_past_the_end(out: &mut [f32], value: f32) {
    for i in 0..out.len() {
        out[i + 1] = value;
    }
}

/// Reads `input[at]`, without a bounds check on a GPU.
#[kernel(partial, unsafe cuda = "
    if (thread_index() == 0 && out_len > 0) out[0] = input[at];
")]
pub fn read_at(out: &mut [f32], input: &[f32], at: u64) {
    out[0] = input[at as usize];
}
