//! The tests' kernels: [slow](fill), [broken](trap), and [of every type](axpy).

mod broken;
mod slow;
mod typed;

pub use broken::{read_at, trap, write_past_the_end, write_to_nowhere};
pub use slow::{add_one, dot, fill, multiprocessor, slow_copy, slow_fill, spin};
pub use typed::{axpy, reverse, scalars, transpose};

use streamflow::kernel::KernelInfo;

/// Every kernel of this package, a generic one for each type.
pub fn kernels() -> Vec<&'static KernelInfo> {
    [slow::kernels(), broken::kernels(), typed::kernels(), crate::stereo::kernels()].concat()
}
