//! Tools for the tests of your own operators and graphs.
//!
//! [`OperatorHarness`] lets one operator tick without a graph. [`explore`] runs a test under many of the
//! orders in which a device may execute its work, and [`Explorer`] also under all of them, on the host
//! simulator.
//!
//! ```
//! use streamflow::prelude::*;
//! use streamflow::testing::{Explorer, explore};
//!
//! /// data[i] += 1
//! #[kernel(unsafe cuda = "unsigned long long i = thread_index(); if (i < data_len) data[i] += 1.0f;")]
//! fn add_one(data: &mut [f32]) {
//!     data.iter_mut().for_each(|x| *x += 1.0);
//! }
//!
//! /// Adds on two streams in turn. A panic or an error would be a failure.
//! fn test(platform: &Platform) -> Result<()> {
//!     let pool = platform.stream_pool("TEST", &CudaStreamPool::new())?;
//!     let (a, b) = (pool.allocate("a")?, pool.allocate("b")?);
//!     let mut data = platform.buffer::<f32>(4, &a)?;
//!     a.fill_bytes(&mut data, 0)?;
//!     a.launch::<add_one>(4, (&mut data,))?;
//!     b.launch::<add_one>(4, (&mut data,))?;
//!     assert_eq!(b.download_blocking(&data)?, [2.0; 4]);
//!     Ok(())
//! }
//!
//! # fn main() -> Result<()> {
//! explore(test)?;
//!
//! let found = Explorer::new().run_exhaustively(test)?;
//! found.check()?;
//! println!("{found}"); // 37 states in 9 runs, none failed; no state is left
//! # Ok(())
//! # }
//! ```
//!
//! # Repeating a failure
//!
//! What failed says how to repeat it: `STREAMFLOW_TEST_SEED=5` makes [`Explorer::run`] and [`explore`] try
//! that seed alone, and `STREAMFLOW_TEST_SCHEDULE=3:1,7:2` makes [`Explorer::run_exhaustively`] repeat that
//! run alone (in choice 3 take 1, in choice 7 take 2, else 0). `STREAMFLOW_TEST_SEEDS=n` tries the seeds
//! `0..n` where a test does not say how many.
//!
//! # What exhaustive means
//!
//! Before each call of the driver that submits work or asks how far it is, and while one blocks, any
//! operation that is next on its stream may be executed, or the call goes on. An exhaustive exploration
//! makes every such choice in every *state*, in a run of the test that is carried to its end. So a
//! question, as [`CudaStream::is_complete`](crate::CudaStream::is_complete), is answered "not yet" in some
//! runs and "done" in others.
//!
//! A state is how far each stream is, what device memory holds, and what the host was answered. Orders
//! that lead to the same state are not tried twice; so operations that don't touch each other's memory
//! count in one order alone, and those that race in each order that makes a difference. This assumes that
//! - the test does the same when it is answered the same: no clock, no chance, nothing kept from one run
//!   for the next, one thread at a time that uses the device. That it does not is noticed, most often:
//!   [`Limit::Diverged`];
//! - how often it asked for something in vain, without doing anything else, makes no difference;
//! - kernels touch nothing but device memory;
//! - the host looks at page-locked memory only when nothing is being copied there. Where it does look,
//!   that is seen, but not in combination with everything that may follow;
//! - two states with one 64-bit hash are the same.
//!
//! States multiply with each stream that works on its own: take small sizes, for the content of memory is
//! looked at after each operation, and few ticks. A graph of four streams and two ticks has some 3000.

mod choices;
mod explore;
mod harness;
mod outcome;
mod search;
mod variables;

pub use explore::{Explorer, explore};
pub use harness::{Emitted, OperatorHarness};
pub use outcome::{Exploration, Failing, Limit, Stopped};
