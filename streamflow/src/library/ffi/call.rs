//! One call of a library: its claims, queued as one operation.

use std::marker::PhantomData;
use std::panic::Location;
use std::{ptr, slice};

use arrayvec::ArrayVec;

use crate::driver::{
    Access, AccessMode, DriverError, HostArgs, LibraryBody, LibraryCall, LibraryError, MemoryRange,
    Note, Param, Plain, RawStream, Rows,
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
    /// The first place is that of the mask, which is written last.
    params: ArrayVec<Param, PARAMS>,
    /// The mask: a bit for each parameter after it that begins a claim.
    claims: u64,
    accesses: ArrayVec<Access, MAX_CLAIMS>,
    blocks: ArrayVec<&'a Block, MAX_CLAIMS>,
    /// Whether there were more claims or values than there is room for.
    is_full: bool,
    is_captured: bool,
}

impl<'a> Call<'a> {
    /// A call of a function of a library, without claims. Both names are for messages.
    #[inline]
    pub fn new(library: &'static str, function: &'static str) -> Self {
        let mut call = Self::empty(library, function);
        // The place of the mask.
        call.param(Param::new(0_u64));
        call
    }

    #[inline]
    const fn empty(library: &'static str, function: &'static str) -> Self {
        Self {
            library,
            function,
            params: ArrayVec::new_const(),
            claims: 0,
            accesses: ArrayVec::new_const(),
            blocks: ArrayVec::new_const(),
            is_full: false,
            is_captured: true,
        }
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
    pub fn value<T: Plain>(&mut self, value: T) {
        self.param(Param::new(value));
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
        self.params[0] = Param::new(self.claims);
        // Another library may have bound another device since this thread did.
        stream.timeline().bind()?;
        let call = LibraryCall {
            function: self.function,
            params: &self.params,
            accesses: &self.accesses,
            is_captured: self.is_captured,
            host: &host.0,
            device: &device,
        };
        let claims = self.blocks.iter().zip(&self.accesses);
        let uses = claims.filter_map(|(block, access)| {
            let mode = claims::taken(self.function, access.argument, access.mode)?;
            Some(Use::new(block, mode, access.argument))
        });
        access::queue(stream, Order::ByData, uses, || {
            stream.table().tell(&Note::At(location));
            let timeline = stream.timeline();
            // SAFETY: the stream is alive. The caller vouches for the device's body. The host body touches what its
            // operands give it: the claimed memory, which is freed only after the uses that are noted.
            unsafe { timeline.driver().call_library(timeline.raw(), &call) }
        })?
        .map_err(Error::from)
    }

    fn claim<T: Element>(
        &mut self,
        argument: &'static str,
        slice: &'a DeviceSlice<T>,
        mode: AccessMode,
    ) -> u64 {
        self.claim_range(argument, slice.block(), slice.range(), mode, None)
    }

    fn claim_range(
        &mut self,
        argument: &'static str,
        block: &'a Block,
        range: MemoryRange,
        mode: AccessMode,
        rows: Option<Rows>,
    ) -> u64 {
        self.claims |= 1 << (self.params.len() - 1);
        self.param(Param::new(range.address));
        // No range is so long that its length needs the highest bit.
        self.param(Param::new(range.bytes << 1 | u64::from(mode == AccessMode::Write)));
        if range.bytes > 0 {
            let access = Access { range, mode, argument, rows };
            self.is_full |= self.accesses.try_push(access).is_err();
            self.is_full |= self.blocks.try_push(block).is_err();
        }
        range.address
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

/// What the simulator runs in place of a library's function: safe code over the claimed memory. A plan makes it once;
/// clones share it.
///
/// The body runs under the simulator's lock, so it must not call streamflow. A panic of it makes the simulated device fail,
/// as a fault does on a GPU.
#[derive(Debug, Clone)]
pub struct HostBody(LibraryBody);

impl HostBody {
    /// A body for the function of this name, which messages have.
    pub fn new(function: &str, body: impl Fn(&mut Operands<'_>) + Send + Sync + 'static) -> Self {
        let run = move |args: HostArgs<'_>| {
            body(&mut Operands::new(args));
        };
        // SAFETY: `body` is safe code, and gets the memory of the claims alone.
        Self(unsafe { LibraryBody::new(function, run) })
    }
}

/// The claims and values of a [`Call`], as its [`HostBody`] gets them: in the order in which they were made.
#[derive(Debug)]
pub struct Operands<'a> {
    params: slice::Iter<'a, Param>,
    /// The lowest bit says whether the next parameter begins a claim, and so on.
    claims: u64,
    _memory: PhantomData<&'a mut [u8]>,
}

impl<'a> Operands<'a> {
    fn new(args: HostArgs<'a>) -> Self {
        let mut params = args.params.iter();
        let claims = params.next().map_or(0, Param::get);
        Self { params, claims, _memory: PhantomData }
    }

    /// The next claim, of memory that is read.
    ///
    /// # Panics
    /// If it is no claim of such elements that are read. The simulated device fails then.
    pub fn read<T: Element>(&mut self) -> &'a [T] {
        let (address, len) = self.claim::<T>(false);
        if len == 0 {
            return &[];
        }
        // SAFETY: the claim was made of this many bytes at this address, as `claim` checks; any bytes are elements. The
        // memory is allocated, and no other code touches it during the call (`Driver::call_library`). A claim to write the
        // same memory would have needed a `&mut` beside this one.
        unsafe { slice::from_raw_parts(ptr::with_exposed_provenance(address), len) }
    }

    /// The next claim, of memory that is written.
    ///
    /// # Panics
    /// As for [`read`](Self::read), of memory that is written.
    pub fn write<T: Element>(&mut self) -> &'a mut [T] {
        let (address, len) = self.claim::<T>(true);
        if len == 0 {
            return &mut [];
        }
        // SAFETY: as in `read`; each claim is given out once.
        unsafe { slice::from_raw_parts_mut(ptr::with_exposed_provenance_mut(address), len) }
    }

    /// The next value. If `T` is not the type that it was passed as, its bits are reinterpreted.
    ///
    /// # Panics
    /// If there is none. The simulated device fails then.
    pub fn value<T: Plain>(&mut self) -> T {
        assert!(self.claims & 1 == 0, "the call has a claim next, and no value");
        self.next().get()
    }

    fn claim<T: Element>(&mut self, is_written: bool) -> (usize, usize) {
        assert!(self.claims & 1 == 1, "the call has a value next, and no claim");
        let address = self.next().get::<u64>();
        let length = self.next().get::<u64>();
        let (bytes, written) = (length >> 1, length & 1 == 1);
        assert_eq!(written, is_written, "the next claim is of memory that is read, or written");
        let size = size_of::<T>() as u64;
        assert!(
            bytes.is_multiple_of(size) && address.is_multiple_of(align_of::<T>() as u64),
            "the next claim has {bytes} bytes, which are no elements of {size} bytes"
        );
        (address as usize, (bytes / size) as usize)
    }

    fn next(&mut self) -> &'a Param {
        #[allow(clippy::panic, reason = "a fault of the simulated device, as in a kernel's body")]
        let Some(param) = self.params.next() else { panic!("the call has no more claims") };
        self.claims >>= 1;
        param
    }
}
