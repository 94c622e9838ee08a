//! The kernels of the operators of signals. They are public for the tests that compare their bodies.
//!
//! Kernels of real numbers have one body. Those that also take complex numbers have two, since a kernel of one body has none.

mod frames;
mod peaks;
mod positions;
mod select;
mod taps;

pub use frames::{analytic, frame, overlap};
pub use peaks::{Latest, Ranked, counts, pick, pick_kept, run_starts, thin, tops};
pub use positions::{gather_i32, gather_i64, gather_u32, gather_u64, places};
pub use select::{mix, permute, take};
pub use taps::{filter, keep};
