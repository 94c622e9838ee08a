//! Calls whose claims are an array.

use std::ffi::c_int;
use std::panic::Location;

use super::call::{self, Call};
use super::claim::Claim;
use super::host_body::HostBody;
use crate::driver::{LibraryCalls, LibraryError, RawStream, SourceLocation};
use crate::error::Result;
use crate::memory::access::{self, Order, Places};
use crate::stream::CudaStream;

/// One call of a function of a library, for calls whose time counts.
///
/// A device's driver needs no [`Call`]: then nothing of the claims is left but what orders the call. So all methods but
/// `error` are to be compiled into their callers. The code that makes a [`Call`] gets a copy, so that
/// nothing takes the original's address.
pub(in crate::library) trait Operation<'a, const CLAIMS: usize>: Copy {
    /// The library and its function, for messages.
    fn name(&self) -> (&'static str, &'static str);

    /// All memory that [`call`](Self::call) uses. None of it is empty.
    fn claims(&self) -> [Option<Claim<'a>>; CLAIMS];

    /// Passes the values to the host body, which gets them before the claims.
    fn add_values(&self, to: &mut Call<'a>);

    /// Calls the function.
    ///
    /// # Safety
    /// This stream's work may use the claimed memory.
    unsafe fn call(&self, stream: RawStream) -> Result<(), Refused>;

    /// The error of a function of the library that has returned this status.
    fn error(function: &'static str, status: c_int) -> LibraryError;
}

/// Why a call failed, as a few words in registers. Its error is made only after the uses are noted, so nothing before
/// that can unwind.
#[derive(Debug, Clone, Copy)]
pub(in crate::library) enum Refused {
    /// A function of the library returned another status than 0.
    Status(&'static str, c_int),
    /// The plan has no handle of the library, as on the simulator.
    NoHandle,
}

/// `Ok` for status 0.
#[inline(always)]
pub(in crate::library) fn accepted(function: &'static str, status: c_int) -> Result<(), Refused> {
    if status == 0 { Ok(()) } else { Err(Refused::Status(function, status)) }
}

/// Queues a call.
///
/// # Errors
/// As for [`Call::queue`].
///
/// # Safety
/// The call uses the claimed memory as claimed, and no other that streamflow or the host may use. It queues work on no other
/// stream, and makes no call of streamflow.
#[inline(always)]
#[track_caller]
pub(in crate::library) unsafe fn queue<'a, const CLAIMS: usize>(
    stream: &CudaStream,
    host: &HostBody,
    operation: impl Operation<'a, CLAIMS>,
) -> Result<()> {
    let needed = stream.timeline().driver().library_calls();
    if needed != LibraryCalls::Unseen {
        let location = Location::caller();
        // SAFETY: the caller vouches for the same.
        return unsafe { queue_by_driver(needed, stream, host, operation, location) };
    }
    let (_, function) = operation.name();
    let written = operation.claims().map(|claim| call::taken(claim?.used(), function));
    let timeline = access::prepared(call::ready(stream), Places(written))?;
    // The steps of `access::queue`, without its closure, whose `Result` would move the call's error.
    let uses = access::begin(stream, Order::ByData, Places(written))?;
    // SAFETY: the stream comes after what the claims must come after, and they are noted after this, whatever it returns.
    let queued = unsafe { operation.call(timeline.raw()) };
    uses.note();
    match queued {
        Ok(()) => Ok(()),
        Err(refused) => {
            let failed = Err(call::failed(timeline, function, error(operation, refused)));
            access::prepared(failed, Places(written))
        }
    }
}

/// Queues the call by the driver.
///
/// # Safety
/// As for [`queue`].
#[cold]
#[inline(never)]
unsafe fn queue_by_driver<'a, const CLAIMS: usize>(
    needed: LibraryCalls,
    stream: &CudaStream,
    host: &HostBody,
    operation: impl Operation<'a, CLAIMS>,
    location: SourceLocation,
) -> Result<()> {
    let (library, function) = operation.name();
    let mut call = Call::needed(needed, library, function);
    operation.add_values(&mut call);
    for claim in operation.claims().iter().flatten() {
        debug_assert!(!claim.is_empty(), "an empty claim of {function}");
        call.claim(claim);
    }
    // SAFETY: `queue_by_driver` orders the claims, and notes them after this.
    let device =
        |stream| unsafe { operation.call(stream) }.map_err(|refused| error(operation, refused));
    // SAFETY: the caller vouches for the same.
    unsafe { call.queue_by_driver(stream, host, &device, location) }
}

#[cold]
#[inline(never)]
fn error<'a, const CLAIMS: usize, O: Operation<'a, CLAIMS>>(
    operation: O,
    refused: Refused,
) -> LibraryError {
    match refused {
        Refused::Status(function, status) => O::error(function, status),
        Refused::NoHandle => {
            let (library, function) = operation.name();
            call::no_handle(library, function)
        }
    }
}
