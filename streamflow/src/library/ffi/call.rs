//! One call of a library: its claims, queued as one operation.

use std::panic::Location;

use arrayvec::ArrayVec;

use super::host_body::HostBody;
use crate::driver::current;
use crate::driver::{
    Access, AccessMode, DriverError, LibraryCall, LibraryError, MemoryRange, Note, Param, Plain,
    RawStream, Rows,
};
use crate::error::{Error, Result};
use crate::library::claims;
use crate::memory::access::{self, Order, Use};
use crate::memory::{Block, DeviceSlice, Element, TensorView, TensorViewMut};
use crate::stream::CudaStream;

/// The most claims of a [`Call`].
pub const MAX_CLAIMS: usize = 12;

/// The most values of a [`Call`].
const MAX_VALUES: usize = 7;

/// The most parameters of a host body: the mask of claims, two for each claim, and the values.
const PARAMS: usize = 1 + 2 * MAX_CLAIMS + MAX_VALUES;

/// One operation of a library on a stream: which memory it reads and writes, and the values for its host body. Claims and
/// values reach the host body in the order in which they are made.
///
/// A [`Call`] is one operation. The accesses are typed claims. Only the device's body, which passes addresses to foreign
/// code, needs `unsafe`:
///
/// ```
/// use streamflow::library::{Call, HostBody};
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
///         streamflow::library::check("mylib", "mylibScale", status, |_| "MYLIB_ERROR")
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
/// });
/// scale(&stream, &body, &x, &mut y)?;
/// assert_eq!(platform.download(&y, &stream)?.wait_blocking()?, [2.0, 4.0]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Call<'a> {
    library: &'static str,
    function: &'static str,
    /// What the call is ordered by.
    uses: ArrayVec<Use<'a>, MAX_CLAIMS>,
    /// Whether there were more claims or values than there is room for.
    is_full: bool,
    is_captured: bool,
    /// Whether the driver reads more than the body for a device: what follows.
    is_read: bool,
    /// The mask: a bit for each parameter after it that begins a claim.
    claims: u64,
    /// The first place is that of the mask, which is written last.
    params: ArrayVec<Param, PARAMS>,
    accesses: ArrayVec<Access, MAX_CLAIMS>,
}

impl<'a> Call<'a> {
    /// A call of a function of a library, without claims. Both names are for messages.
    #[inline]
    pub fn new(library: &'static str, function: &'static str) -> Self {
        Self::read_by(true, library, function)
    }

    /// A call that will be queued on this stream, or on another one of its platform. It keeps what the platform's driver
    /// reads, and no more.
    #[inline]
    #[allow(dead_code, reason = "features with a library use it")]
    pub(in crate::library) fn on(
        stream: &CudaStream,
        library: &'static str,
        function: &'static str,
    ) -> Self {
        let is_read = stream.timeline().driver().reads_library_calls();
        Self::read_by(is_read, library, function)
    }

    #[inline(always)]
    fn read_by(is_read: bool, library: &'static str, function: &'static str) -> Self {
        let mut call = Self {
            library,
            function,
            uses: ArrayVec::new_const(),
            is_full: false,
            is_captured: true,
            is_read,
            claims: 0,
            params: ArrayVec::new_const(),
            accesses: ArrayVec::new_const(),
        };
        if is_read {
            // The place of the mask.
            call.param(Param::new(0_u64));
        }
        call
    }

    /// Claims memory that the work reads. Returns its address, for the device's body.
    pub fn read<T: Element>(&mut self, argument: &'static str, slice: &'a DeviceSlice<T>) -> u64 {
        self.claim(argument, slice, AccessMode::Read)
    }

    /// Claims memory that the work writes, and perhaps reads. Returns its address, for the device's body.
    pub fn write<T: Element>(
        &mut self,
        argument: &'static str,
        slice: &'a mut DeviceSlice<T>,
    ) -> u64 {
        self.claim(argument, slice, AccessMode::Write)
    }

    /// As [`read`](Self::read), of a view, which may have gaps. The host body gets all from its first element to its last.
    #[allow(dead_code, reason = "features with a library use it")]
    pub(in crate::library) fn read_view<T: Element>(
        &mut self,
        argument: &'static str,
        view: &TensorView<'a, T>,
    ) -> u64 {
        let mode = AccessMode::Read;
        self.claim_range(argument, view.elements().block(), view.range(), mode, view.rows(mode))
    }

    /// As [`write`](Self::write), of a view, which may have gaps.
    #[allow(dead_code, reason = "features with a library use it")]
    pub(in crate::library) fn write_view<T: Element>(
        &mut self,
        argument: &'static str,
        view: TensorViewMut<'a, T>,
    ) -> u64 {
        let (mode, view) = (AccessMode::Write, view.into_view());
        self.claim_range(argument, view.elements().block(), view.range(), mode, view.rows(mode))
    }

    /// Passes a value to the host body.
    #[inline]
    pub fn value<T: Plain>(&mut self, value: T) {
        if self.is_read {
            self.param(Param::new(value));
        }
    }

    /// Declares that the work must not be captured in a CUDA graph, nor replayed with one.
    #[must_use]
    #[inline]
    pub fn not_captured(self) -> Self {
        Self { is_captured: false, ..self }
    }

    /// Queues the work on a stream, after all work that the claimed memory must come after. Does not block the host, and
    /// allocates nothing. A device runs `device`, with the stream's device current on this thread, before this returns;
    /// the simulator runs `host` in stream order.
    ///
    /// # Errors
    /// Memory of another device or platform; more than [`MAX_CLAIMS`] claims; the error of `device`; the driver's.
    ///
    /// # Safety
    /// `device` queues work on the stream that it gets, and on no other. That work touches the claimed memory as claimed,
    /// and no other memory that streamflow or the host may use. `device` makes no call of streamflow.
    #[track_caller]
    pub unsafe fn queue(
        mut self,
        stream: &CudaStream,
        host: &HostBody,
        device: impl Fn(RawStream) -> Result<(), LibraryError>,
    ) -> Result<()> {
        // Unlike NVIDIA's libraries, the caller's may bind another device.
        let _other = current::other_code();
        // SAFETY: the caller vouches for the same.
        unsafe { self.queue_in_place(stream, host, device) }
    }

    /// As [`queue`](Self::queue), for one call of this. It moves no claims: they have two kilobytes.
    ///
    /// # Errors
    /// As for [`queue`](Self::queue).
    ///
    /// # Safety
    /// As for [`queue`](Self::queue).
    #[track_caller]
    pub(in crate::library) unsafe fn queue_in_place(
        &mut self,
        stream: &CudaStream,
        host: &HostBody,
        device: impl Fn(RawStream) -> Result<(), LibraryError>,
    ) -> Result<()> {
        let location = Location::caller();
        if self.is_full {
            return Err(self.too_many());
        }
        if let Some(mask) = self.params.first_mut() {
            *mask = Param::new(self.claims);
        }
        // The hook's device is bound, unless the hook has bound another one or has run other code since.
        stream.timeline().ready_for_library()?;
        let call = LibraryCall {
            function: self.function,
            params: &self.params,
            accesses: &self.accesses,
            is_captured: self.is_captured,
            host: &host.0,
            device: &device,
        };
        let take = |argument, mode| claims::taken(self.function, argument, mode);
        let uses = self.uses.iter().filter_map(|claimed| claimed.chosen(take));
        access::queue(stream, Order::ByData, uses, || {
            stream.table().tell(&Note::At(location));
            let timeline = stream.timeline();
            // SAFETY: the stream is alive. The caller vouches for the device's body. The host body touches what its
            // operands give it: the claimed memory, which is freed only after the uses that are noted.
            Ok(unsafe { timeline.driver().call_library(timeline.raw(), &call) }?)
        })
    }

    #[inline]
    fn claim<T: Element>(
        &mut self,
        argument: &'static str,
        slice: &'a DeviceSlice<T>,
        mode: AccessMode,
    ) -> u64 {
        self.claim_range(argument, slice.block(), slice.range(), mode, None)
    }

    #[inline]
    fn claim_range(
        &mut self,
        argument: &'static str,
        block: &'a Block,
        range: MemoryRange,
        mode: AccessMode,
        rows: Option<Rows>,
    ) -> u64 {
        if range.bytes > 0 {
            self.is_full |= self.uses.try_push(Use::new(block, mode, argument)).is_err();
        }
        if self.is_read {
            self.describe(Access { range, mode, argument, rows });
        }
        range.address
    }

    /// Adds a claim to what the driver reads.
    #[inline(never)]
    fn describe(&mut self, access: Access) {
        let MemoryRange { address, bytes } = access.range;
        self.claims |= 1 << (self.params.len() - 1);
        self.param(Param::new(address));
        // No range is so long that its length needs the highest bit.
        self.param(Param::new(bytes << 1 | u64::from(access.mode == AccessMode::Write)));
        if bytes > 0 {
            self.is_full |= self.accesses.try_push(access).is_err();
        }
    }

    fn param(&mut self, param: Param) {
        self.is_full |= self.params.try_push(param).is_err();
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

/// `Ok` for status 0, else the error of a library's function, with the name that `name_of` has for the number.
///
/// # Errors
/// That one.
pub fn check(
    library: &'static str,
    call: &'static str,
    status: i32,
    name_of: impl FnOnce(i32) -> &'static str,
) -> Result<(), LibraryError> {
    if status == 0 {
        return Ok(());
    }
    let remedy = format!("see the documentation of {library} for this status");
    Err(LibraryError { library, call, status, name: name_of(status), remedy })
}
