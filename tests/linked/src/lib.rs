//! Kernels of a crate that a program links without naming anything of it. `tests/list.rs` finds them in the program's
//! list.

use streamflow::prelude::*;

mod hidden {
    use super::*;

    /// Sets each element to 1. Nothing launches it.
    #[kernel(unsafe cuda = "
        unsigned long long i = thread_index();
        if (i < out_len) out[i] = 1.0f;
    ")]
    fn ones(out: &mut [f32]) {
        out.fill(1.0);
    }

    /// `out[i] = from[i]`. Nothing launches it.
    #[kernel(instances(f32, u8), requires(out.len() == from.len()), unsafe cuda = "
        unsigned long long i = thread_index();
        if (i < out_len) out[i] = from[i];
    ")]
    fn copied<T: Element>(out: &mut [T], from: &[T]) {
        out.copy_from_slice(from);
    }
}

/// `out[i] = from[i]`. No instance is named or launched.
#[kernel(requires(out.len() == from.len()), unsafe cuda = "
    unsigned long long i = thread_index();
    if (i < out_len) out[i] = from[i];
")]
pub fn without<T: Element>(out: &mut [T], from: &[T]) {
    out.copy_from_slice(from);
}
