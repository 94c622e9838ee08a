//! The tests' kernels: [slow](fill) ones, [broken](trap) ones, kernels [of every element type](axpy), and kernels with
//! results that [identify their inputs](mixing).

mod broken;
mod complex;
pub mod mixing;
mod slow;
mod two_bytes;
mod typed;
mod views;

pub use broken::{read_at, trap, warned, write_past_the_end, write_to_nowhere};
pub use complex::{Made, RESULTS, complex_math};
pub use slow::{add_one, dot, fill, multiprocessor, slow_copy, slow_fill, spin};
pub use two_bytes::{more_scalars, select, to_bf16};
pub use typed::{axpy, number_in_rows, reverse, scalars, transpose};
pub use views::{add_views, number_view, scale_view};
