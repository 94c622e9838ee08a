//! Tools for a crate that calls a library on an operator's stream, as `streamflow-gpu-math` calls NVIDIA's.
//!
//! A library's function queues work on a stream, as a launch of a kernel does, and a call is ordered like a launch. It claims its
//! operands and its work area. The stream first waits for all work that must come before. The race checker, the recorder and the
//! simulator see one operation with its accesses.
//!
//! On the simulator, the same call runs a [`HostBody`] instead of the function, with the same conventions and the same errors.
//! The library need not be installed.
//!
//! If a call fails, its target is not written, like the target of a failed launch ([the
//! rule](crate::guide::failures#errors-that-an-operator-drops)).
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
