//! The tests' kernels: [slow](fill), [broken](trap), [of every type](axpy), and kernels whose result
//! [identifies their inputs](mixing).

mod broken;
mod complex;
pub mod mixing;
mod slow;
mod two_bytes;
mod typed;
mod views;

pub use broken::{read_at, trap, write_past_the_end, write_to_nowhere};
pub use complex::{Made, RESULTS, complex_math};
pub use slow::{add_one, dot, fill, multiprocessor, slow_copy, slow_fill, spin};
pub use two_bytes::{more_scalars, select, to_bf16};
pub use typed::{axpy, number_in_rows, reverse, scalars, transpose};
pub use views::{add_views, number_view, scale_view};

use streamflow::kernel::{Kernel, KernelInfo};

/// Every kernel of this package. A generic kernel is listed once per type.
pub fn kernels() -> Vec<&'static KernelInfo> {
    let mixing = vec![
        mixing::make::INFO,
        mixing::map::INFO,
        mixing::join::INFO,
        mixing::change::INFO,
        mixing::both::INFO,
        mixing::numbers::INFO,
        mixing::from_numbers::INFO,
    ];
    [
        slow::kernels(),
        broken::kernels(),
        typed::kernels(),
        complex::kernels(),
        two_bytes::kernels(),
        views::kernels(),
        mixing,
        crate::stereo::kernels(),
        crate::floor::kernels(),
    ]
    .concat()
}
