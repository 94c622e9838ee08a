//! Calls of libraries in the form that a driver takes: a function of a library that queues work on a stream.

use std::fmt;
use std::sync::{Arc, Weak};

use super::{Access, HostArgs, Param, RawStream, Rows};

/// A call of a library: its memory, a body for a device, and a body for the simulator. A GPU's driver runs the first
/// body, and the simulator the second.
pub struct LibraryCall<'a> {
    /// The library's function, for messages; `cufftExecC2C` for example.
    pub function: &'static str,
    /// The parameters of the host body, in order. May be empty for a driver that needs no [`Whole`](LibraryCalls::Whole) call.
    pub params: &'a [Param],
    /// All memory that the call touches, work areas included. May be empty for a driver that needs no `Whole` call.
    pub accesses: &'a [Access],
    /// The rows of those accesses that have a [`RowsAt`](super::RowsAt).
    pub rows: &'a [Rows],
    /// Whether the call may be captured in a CUDA graph. A launch of that graph then takes the place of each later call
    /// with the same function, host body, parameters and accesses. `false` for a call that may wait for the device or
    /// allocate, and for a call that the library's documentation does not allow to be captured.
    pub is_captured: bool,
    /// The body for the simulator.
    pub host: &'a LibraryBody,
    /// The body for a device: queues the work on the stream.
    pub device: &'a dyn Fn(RawStream) -> Result<(), LibraryError>,
}

/// The parts of a library call that a driver needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LibraryCalls {
    /// Only the two bodies. Parameters and accesses may be left out.
    Body,
    /// The bodies, the parameters and the accesses of each call.
    Whole,
}

impl fmt::Debug for LibraryCall<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LibraryCall")
            .field("function", &self.function)
            .field("params", &self.params)
            .field("accesses", &self.accesses)
            .field("rows", &self.rows)
            .field("is_captured", &self.is_captured)
            .finish_non_exhaustive()
    }
}

/// The reason why a host body failed: any error, or a text by `.into()`. `?` converts both.
pub type BodyError = Box<dyn std::error::Error + Send + Sync>;

/// The body that the simulator executes in place of a library's function. A clone counts as the same body.
#[derive(Clone)]
pub struct LibraryBody {
    name: Arc<str>,
    run: Arc<Run>,
}

type Run = dyn Fn(HostArgs<'_>) -> Result<(), BodyError> + Send + Sync;

impl LibraryBody {
    /// Creates a body from a function and its name in messages.
    ///
    /// # Safety
    /// `run` touches the memory that its parameters name, and no other.
    pub unsafe fn new(
        name: &str,
        run: impl Fn(HostArgs<'_>) -> Result<(), BodyError> + Send + Sync + 'static,
    ) -> Self {
        Self { name: name.into(), run: Arc::new(run) }
    }

    pub(super) fn name(&self) -> &Arc<str> {
        &self.name
    }

    pub(super) fn id(&self) -> BodyId {
        BodyId(Arc::downgrade(&self.run))
    }

    /// Runs the body.
    ///
    /// # Errors
    /// The errors of the body.
    ///
    /// # Safety
    /// The contract of a [`HostKernel`](super::HostKernel).
    pub(super) unsafe fn run(&self, args: HostArgs<'_>) -> Result<(), BodyError> {
        (self.run)(args)
    }
}

/// The identity of a body, unique in the process. No other body gets the same address while the [`Weak`] exists, even after the
/// body was dropped.
pub(super) struct BodyId(Weak<Run>);

impl BodyId {
    /// Whether this is the identity of `body` or of a clone of it.
    pub(super) fn is_of(&self, body: &LibraryBody) -> bool {
        std::ptr::addr_eq(self.0.as_ptr(), Arc::as_ptr(&body.run))
    }
}

impl fmt::Debug for BodyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("BodyId").field(&self.0.as_ptr().cast::<()>()).finish()
    }
}

impl fmt::Debug for LibraryBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LibraryBody").field(&self.name).finish()
    }
}

/// A library's function has failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{call} of {library} failed: {name} ({status}); {remedy}")]
pub struct LibraryError {
    /// The library, as `cuFFT`.
    pub library: &'static str,
    /// The library's function.
    pub call: &'static str,
    /// The number that the function returned.
    pub status: i32,
    /// The library's name for the number.
    pub name: &'static str,
    /// A remedy.
    pub remedy: String,
}

impl LibraryError {
    /// Returns `Ok` for status 0, else the error of a library's function, with the name that `name_of` has for the number.
    ///
    /// # Errors
    /// The error of the function, for any other status.
    #[inline]
    pub fn check(
        library: &'static str,
        call: &'static str,
        status: i32,
        name_of: impl FnOnce(i32) -> &'static str,
    ) -> Result<(), Self> {
        if status == 0 { Ok(()) } else { Err(Self::new(library, call, status, name_of(status))) }
    }

    #[cold]
    fn new(library: &'static str, call: &'static str, status: i32, name: &'static str) -> Self {
        let remedy = format!("see the documentation of {library} for this status");
        Self { library, call, status, name, remedy }
    }

    /// Whether the library could not allocate memory.
    #[doc(hidden)]
    pub fn is_out_of_memory(&self) -> bool {
        // In all of NVIDIA's libraries, the name of this error ends in the same way.
        self.name.ends_with("ALLOC_FAILED")
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// The allocator reuses freed memory at once, so without the `Weak` a later body would have the address of an earlier body.
    #[test]
    fn no_later_body_is_taken_for_one_that_was_dropped() {
        let mut ids: Vec<BodyId> = Vec::new();
        for number in 0..64 {
            // SAFETY: the body touches no memory.
            let body = unsafe {
                LibraryBody::new("a function", move |_| Err(BodyError::from(number.to_string())))
            };
            assert!(ids.iter().all(|id| !id.is_of(&body)), "body {number}");
            let id = body.id();
            assert!(id.is_of(&body.clone()), "body {number}");
            ids.push(id);
        }
    }
}
