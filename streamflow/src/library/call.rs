//! A call of a library's function, with claims of the memory that it uses. The call is queued as one operation on a stream.
//!
//! A call takes few instructions, for these reasons. It does not bind a device that the hook has bound already. For a driver that
//! reads neither parameters nor accesses, it stores only its claims. It skips each layer of the driver that does nothing in a
//! library call. The claims are an array whose loops are unrolled. An error value is made only after the uses are noted. With the
//! layout in `matmul::plan` of `streamflow-gpu-math`, this saves 309 of 736 instructions of a product, 217 of 537 of a transform
//! and 303 of 867 of a sparse product, counted by callgrind.

use std::cell::RefCell;
use std::panic::Location;

use arrayvec::ArrayVec;

use super::Claim;
use super::claims;
use super::description::{Description, MAX_CLAIMS, MAX_VALUES};
use super::host_body::HostBody;
use super::object::give_back_memory;
use crate::driver::current;
use crate::driver::{
    DriverError, LibraryCall, LibraryCalls, LibraryError, Note, Param, Plain, RawStream,
};
use crate::error::{Error, Result};
use crate::memory::access::{self, Order, Use};
use crate::memory::{DeviceSlice, Element};
use crate::stream::{CudaStream, Timeline};

/// An operation of a library on a stream: the memory that it reads and writes, and the values for its host body. The host body
/// gets claims and values in the order of their declaration.
///
/// The accesses are typed claims, so only the device's body needs `unsafe`, since it passes addresses to foreign code:
///
/// ```
/// use streamflow::library::{Call, HostBody, LibraryError};
/// use streamflow::prelude::*;
///
/// # mod mylib { pub unsafe fn scale(_: u64, _: u64, _: u64, _: usize, _: f32) -> i32 { 0 } }
/// /// y = factor x, by a function of a library.
/// fn scale(stream: &CudaStream, body: &HostBody, x: &Tensor<f32>, y: &mut Tensor<f32>) -> Result<()> {
///     let (factor, count) = (2.0_f32, x.len());
///     assert_eq!(count, y.len());
///     let mut call = Call::new("mylib", "mylibScale");
///     let x = call.read("x", x);
///     let y = call.write("y", y);
///     call.value(factor);
///     let queue = |stream: streamflow::driver::RawStream| {
///         // SAFETY: the function queues its work on this stream, and touches `count` elements of each.
///         let status = unsafe { mylib::scale(stream.handle(), x, y, count, factor) };
///         LibraryError::check("mylib", "mylibScale", status, |_| "MYLIB_ERROR")
///     };
///     // SAFETY: the function reads `x` and writes `y`, as claimed.
///     unsafe { call.queue(stream, body, queue) }?;
///     Ok(())
/// }
///
/// # fn main() -> Result<()> {
/// let platform = Platform::host().build()?;
/// let stream = platform.default_stream(device(0))?;
/// let x = platform.upload(&[1.0_f32, 2.0])?;
/// let mut y = platform.tensor([2], &stream)?;
/// let body = HostBody::new("mylibScale", |operands| {
///     let (x, y, factor) = (operands.read::<f32>(), operands.write::<f32>(), operands.value::<f32>());
///     y.iter_mut().zip(x).for_each(|(y, x)| *y = factor * x);
///     Ok(())
/// });
/// scale(&stream, &body, &x, &mut y)?;
/// assert_eq!(platform.download(&y, &stream)?.wait_blocking()?, [2.0, 4.0]);
/// # Ok(())
/// # }
/// ```
#[must_use = "nothing is called before `queue`"]
#[derive(Debug)]
pub struct Call<'a> {
    library: &'static str,
    function: &'static str,
    /// The uses of memory by which the runtime orders the call, one for each claim.
    uses: ArrayVec<Use<'a>, MAX_CLAIMS>,
    /// The claims for which `uses` has no room. `Some` means that the call has too many claims or too many values, and will be
    /// refused.
    #[expect(clippy::box_collection, reason = "almost no call has it, and each is moved")]
    beyond: Option<Box<Vec<Use<'a>>>>,
    is_captured: bool,
    may_be_repeated: bool,
    /// The parameters and accesses of the call, for a driver that reads them. `None` for other drivers.
    description: Option<Description>,
}

impl<'a> Call<'a> {
    /// Creates a call of a library's function that uses no memory so far. Error texts contain the names of both.
    #[inline]
    pub fn new(library: &'static str, function: &'static str) -> Self {
        Self::needed(LibraryCalls::Whole, library, function)
    }

    /// Begins a call that will be queued at once on this stream, and on no other. The call stores only the data that the
    /// platform's driver reads: on a GPU, only the uses that order the call.
    #[inline]
    pub fn on(stream: &CudaStream, library: &'static str, function: &'static str) -> Self {
        Self::needed(stream.timeline().driver().libraries().library_calls(), library, function)
    }

    #[inline(always)]
    fn needed(needed: LibraryCalls, library: &'static str, function: &'static str) -> Self {
        let description = (needed == LibraryCalls::Whole).then(Description::new);
        let uses = ArrayVec::new_const();
        let (is_captured, may_be_repeated) = (false, false);
        Self { library, function, uses, beyond: None, is_captured, may_be_repeated, description }
    }

    /// Claims memory that the work reads. Returns the memory's address, for the device's body.
    pub fn read<T: Element>(&mut self, argument: &'static str, slice: &'a DeviceSlice<T>) -> u64 {
        let claim = Claim::read(argument, slice);
        self.claim(&claim);
        claim.address()
    }

    /// Claims memory that the work writes, and perhaps reads. If the call fails, this memory is [not
    /// written](crate::guide::failures#errors-that-an-operator-drops). Returns the memory's address, for the device's body.
    pub fn write<T: Element>(
        &mut self,
        argument: &'static str,
        slice: &'a mut DeviceSlice<T>,
    ) -> u64 {
        let claim = Claim::write(argument, slice);
        self.claim(&claim);
        claim.address()
    }

    /// Passes a value to the host body.
    #[inline]
    pub fn value<T: Plain>(&mut self, value: T) {
        if let Some(description) = &mut self.description
            && !description.add_value(Param::new(value))
        {
            self.refuse(None);
        }
    }

    /// Declares that the work may be captured in a CUDA graph, and [replayed](crate::guide::replay) with that graph. This must
    /// follow from the library's documentation of the function: the function neither allocates nor waits. [`queue`](Self::queue)
    /// requires more of such a call: its work writes only claimed memory. Without this declaration, the function is called in
    /// each tick.
    #[must_use = "it returns the call with this declaration"]
    #[inline]
    pub fn may_be_captured(self) -> Self {
        Self { is_captured: true, ..self }
    }

    /// Declares that the function may be called once more if it finds no memory. Before the second call, the pools of the
    /// platform give back their free memory. A call that finds no memory must not have changed the claimed memory.
    #[must_use = "it returns the call with this declaration"]
    #[inline]
    pub fn may_be_repeated(self) -> Self {
        Self { may_be_repeated: true, ..self }
    }

    /// Queues the work on a stream, after all work that the claimed memory must come after. This does not block the host, and
    /// allocates memory only the first time on a thread. On a device, this calls `device` with the stream's device current on
    /// this thread, before it returns. The simulator runs `host` instead, in stream order.
    ///
    /// # Errors
    /// If the memory is of another device or platform; if there are more than [`MAX_CLAIMS`] claims; [`Error::Unwritten`] for
    /// memory that a failed call was to write; the error of `device`; the driver's.
    ///
    /// # Safety
    /// `device` queues work on the stream that it gets, and on no other stream. That work uses the claimed memory as claimed, and
    /// no other memory that streamflow or the host may use. `device` makes no call of streamflow.
    ///
    /// If the call [may be captured](Self::may_be_captured), `device` may get another stream than `stream`, on which its work is
    /// captured. Calls with the same function, host body, claims and values count as the same work, and `device` is called for
    /// only one of them. If the capture fails, `device` is called once more, to send the work. So each plan has its own host
    /// body, a plan that changes gets a new one, and each number that `device` uses is in the plan or is a
    /// [`value`](Self::value). The work writes only claimed memory, since two of these calls may run at the same time: a work
    /// area is claimed as [written](Self::write). Memory that the work reads without a claim, as the tables of a plan, must not
    /// change until the work of the last such call is complete.
    ///
    /// If the call [may be repeated](Self::may_be_repeated), `device` is called once more after a call that finds no memory.
    #[track_caller]
    pub unsafe fn queue(
        mut self,
        stream: &CudaStream,
        host: &HostBody,
        device: impl FnMut(RawStream) -> Result<(), LibraryError>,
    ) -> Result<()> {
        // The claimed memory is the caller's, so each use checks whether its memory is marked as unwritten.
        let beyond = self.beyond.iter_mut().flat_map(|beyond| beyond.iter_mut());
        self.uses.iter_mut().chain(beyond).for_each(|used| *used = used.marked());
        // A function of the caller's library may bind another device. Functions of NVIDIA's libraries do not.
        let _other = current::other_code();
        // Several layers of a driver may call `device`, one after another. No call of `device` happens inside of another, since
        // `device` makes no call of streamflow.
        let device = RefCell::new(device);
        // SAFETY: the caller guarantees what `queue_in_place` requires, since the contract of this function is the same.
        unsafe { self.queue_in_place(stream, host, &|stream| (*device.borrow_mut())(stream)) }
    }

    /// Queues the work as [`queue`](Self::queue) does, for a call of a plan that was begun [`on`](Self::on) this stream. The
    /// claims neither check nor set marks of unwritten memory, since most are of the plan's own memory. [`Target`](super::Target)
    /// has the rule for the caller's memory. `device` must leave the stream's device current.
    ///
    /// # Errors
    /// As for [`queue`](Self::queue).
    ///
    /// # Safety
    /// As for [`queue`](Self::queue).
    #[inline(never)]
    #[track_caller]
    pub unsafe fn queue_in_place(
        &self,
        stream: &CudaStream,
        host: &HostBody,
        device: &dyn Fn(RawStream) -> Result<(), LibraryError>,
    ) -> Result<()> {
        let location = Location::caller();
        if let Some(beyond) = &self.beyond {
            let beyond = beyond.iter().filter_map(|&used| taken(used, self.function));
            return access::prepared(Err(self.too_many()), self.uses().chain(beyond));
        }
        let description = self.description.as_ref();
        let nothing = || (&[][..], &[][..], &[][..]);
        let (params, accesses, rows) = description.map_or_else(nothing, Description::parts);
        let call = LibraryCall {
            function: self.function,
            params,
            accesses,
            rows,
            is_captured: self.is_captured,
            host: &host.0,
            device,
        };
        let timeline = access::prepared(ready(stream), self.uses())?;
        access::queue(stream, Order::ByData, self.uses(), || {
            let libraries = timeline.driver().libraries();
            let mut may_be_repeated = self.may_be_repeated;
            loop {
                stream.table().observe(&Note::At(location));
                // SAFETY: the stream is alive. The caller vouches for the device's body. The host body touches only
                // memory from its operands: the claimed memory, freed only after the uses that are noted.
                match unsafe { libraries.call_library(timeline.raw(), &call) } {
                    Err(DriverError::Library(error))
                        if may_be_repeated && error.is_out_of_memory() =>
                    {
                        // If giving memory back fails, the library's error is returned, since it tells the user more.
                        if give_back_memory(stream).is_err() {
                            return Err(DriverError::Library(error).into());
                        }
                        may_be_repeated = false;
                    }
                    done => return Ok(done?),
                }
            }
        })
    }

    /// Returns the uses that order the call. In a test that falsifies claims, these are the false ones.
    #[inline(always)]
    fn uses(&self) -> impl Iterator<Item = Use<'a>> + Clone + '_ {
        self.uses.iter().filter_map(|&used| taken(used, self.function))
    }

    /// Adds a claim to the call.
    #[inline]
    pub fn claim(&mut self, claim: &Claim<'a>) {
        if !claim.is_empty()
            && let Err(full) = self.uses.try_push(claim.used())
        {
            self.refuse(Some(full.element()));
        }
        if let Some(description) = &mut self.description
            && !description.add_claim(claim.access(), claim.is_view())
        {
            self.refuse(None);
        }
    }

    /// Notes that the call has no room for a claim or a value, so `queue` will refuse the call. If the call is refused, the
    /// memory that `claim` was to write counts as unwritten, like the memory of the other claims.
    #[cold]
    #[inline(never)]
    fn refuse(&mut self, claim: Option<Use<'a>>) {
        self.beyond.get_or_insert_default().extend(claim);
    }

    #[cold]
    fn too_many(&self) -> Error {
        let remedy = format!("a call has at most {MAX_CLAIMS} claims and {MAX_VALUES} values");
        let (library, call) = (self.library, self.function);
        DriverError::from(LibraryError {
            library,
            call,
            status: -1,
            name: "TOO_MANY_CLAIMS",
            remedy,
        })
        .into()
    }
}

/// Returns the use that the runtime notes for a claim: the claim's own, unless a test falsifies it.
#[inline(always)]
fn taken<'a>(used: Use<'a>, function: &'static str) -> Option<Use<'a>> {
    used.chosen(|argument, mode| claims::taken(function, argument, mode))
}

/// Returns the timeline of the stream, with the stream's device current. This function binds the device only if the hook has
/// bound another device, or has run other code, since it last bound this one.
#[inline(always)]
fn ready(stream: &CudaStream) -> Result<&Timeline> {
    let timeline = &**stream.timeline();
    timeline.ready_for_library()?;
    Ok(timeline)
}
