//! Libraries on the operator's stream: transforms, matrices, solvers, random numbers.
//!
//! A library's function queues work on a stream, as a launch does. So it is ordered as a launch is: its operands and its
//! work area are claimed, the stream first waits for what they must come after, and the race checker, the recorder and the
//! simulator see one operation with its accesses. A [`Plan`] belongs to one stream of its operator, and holds no operand.
//!
//! On the simulator the same call runs a [`HostBody`], with the same conventions and the same errors, and no library of
//! NVIDIA is needed.
//!
//! If a call fails, its target is not written, as that of a launch is not
//! ([the rule](crate::guide::failures#errors-that-an-operator-drops)), and the plan can be used again.
//!
//! A [`Call`] is for a library of your own.

#[doc(hidden)]
pub mod claims;
mod ffi;
#[cfg(feature = "fft")]
pub mod fft;
#[cfg(feature = "matmul")]
pub mod matmul;
#[cfg(feature = "random")]
pub mod random;
#[cfg(feature = "solve")]
pub mod solve;
#[cfg(feature = "sparse")]
pub mod sparse;
mod target;

use crate::context::OnStream;
use crate::error::Result;
use crate::stream::CudaStream;

pub use crate::driver::{BodyError, LibraryError};
pub use ffi::call::{Call, check};
pub use ffi::description::MAX_CLAIMS;
pub use ffi::host_body::{HostBody, Operands};

/// Whether a stream's device is simulated. A plan for it has a host body, and no handle of a library.
#[allow(dead_code, reason = "features with a library use it")]
pub(crate) fn is_simulated(stream: &CudaStream) -> Result<bool> {
    let timeline = stream.timeline();
    Ok(timeline.driver().device_info(stream.device())?.is_simulated)
}

/// A library's plan: a field of an operator, made in [`start`](crate::Compute::start) on one of its streams, and used with
/// that stream alone. It is law 3's [`OnStream`]: on another stream, each call of it returns
/// [`Error::OtherStream`](crate::Error::OtherStream) before it does anything.
pub type Plan<L> = OnStream<L>;
