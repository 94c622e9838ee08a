//! Libraries on the operator's stream: tools for a crate that calls a library, as `streamflow-gpu-math` calls NVIDIA's.
//!
//! A library's function queues work on a stream, as a launch does. So a call is ordered as a launch is: its operands
//! and its work area are claimed, the stream first waits for all work that they must come after, and the race checker,
//! the recorder and the simulator see one operation with its accesses.
//!
//! On the simulator the same call runs a [`HostBody`], with the same conventions and the same errors, and no library is
//! needed.
//!
//! If a call fails, its target is not written, as that of a launch is not
//! ([the rule](crate::guide::failures#errors-that-an-operator-drops)).
//!
//! | part | item |
//! |---|---|
//! | one operation, with the memory that it reads and writes | [`Call`], [`Claim`] |
//! | the simulator's replacement for it | [`HostBody`], [`Operands`], [`Elements`], [`ElementsMut`] |
//! | the functions, in a file that is found while the program runs | [`SharedLibrary`] |
//! | a handle on a stream, and its drop after the stream's work | [`CudaStream::make_object`](crate::CudaStream::make_object), [`AfterWork`](crate::memory::AfterWork) |
//! | a plan that belongs to a stream, or that the node keeps | [`OnStream`](crate::context::OnStream), [`ExecutionContext::cached`](crate::ExecutionContext::cached) |
//! | the rule for memory that a failed call of a plan was to write | [`Target`] |
//! | a function's status as a result | [`LibraryError::check`] |

mod call;
mod claim;
pub(crate) mod claims;
mod description;
mod elements;
mod host_body;
mod object;
mod shared_library;
mod target;
#[cfg(all(test, not(loom)))]
mod tests;

pub use call::Call;
pub use claim::Claim;
pub use description::MAX_CLAIMS;
pub use elements::{Elements, ElementsMut};
pub use host_body::{HostBody, Operands};
pub use shared_library::SharedLibrary;
pub use streamflow_driver::driver::LibraryError;
pub use target::{Target, TargetPart};
