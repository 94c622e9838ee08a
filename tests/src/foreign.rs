//! Work outside of streamflow: bare addresses, and compiled code that other tools made. The `unsafe` code of such tests
//! is in this module.

pub mod api_trace;
mod bare;
pub mod by_hand;
mod cudarc;
mod curand;
mod current;
pub mod floor;
pub mod graph;
mod library;
mod outside;
pub mod reports;

pub use bare::{BYTES, Bare, host_function, part};
pub use cudarc::{
    adopted_at_once, adopted_without_owner, external, for_cudarc, unseen, untracked, used_by_cudarc,
};
pub use curand::{Curand, HostPhilox};
pub use current::{is_current, make_current, make_none_current};
pub use library::{Captures, CopyLibrary, filling};
pub use outside::{
    BYTE, ForeignEvent, Outside, Returned, VALUE, columns_from_outside, fill_outside, from_outside,
    order_outside, read_outside, use_shared, write_outside,
};

use std::sync::Arc;

use streamflow::driver::{Driver, RawStream};
use streamflow::kernel::{CompiledCode, Function, Kernel, Module};
use streamflow::memory::DeviceSlice;
use streamflow::platform::DeviceId;
use streamflow::port::{In, Receive, Received};
use streamflow::prelude::*;
use streamflow::stream::{BorrowedEvent, BorrowedStream, ExternalStream};
use streamflow_driver::driver::{
    CopyKind, CopyOp, DriverResult, MemoryRange, RawEvent, StreamOptions,
};

/// The PTX text of `add(unsigned* data, unsigned long long len, unsigned value)`, which adds `value` to each element. It
/// is handwritten.
pub const ADD_PTX: &str = "
.version 6.4
.target sm_75
.address_size 64
.visible .entry add(.param .u64 data, .param .u64 len, .param .u32 value)
{
    .reg .pred %p;
    .reg .u32 %r<5>;
    .reg .u64 %d<6>;
    ld.param.u64 %d1, [data];
    ld.param.u64 %d2, [len];
    ld.param.u32 %r1, [value];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    cvt.u64.u32 %d3, %r4;
    mad.wide.u32 %d3, %r2, %r3, %d3;
    setp.ge.u64 %p, %d3, %d2;
    @%p bra DONE;
    cvta.to.global.u64 %d4, %d1;
    shl.b64 %d5, %d3, 2;
    add.u64 %d4, %d4, %d5;
    ld.global.u32 %r2, [%d4];
    add.u32 %r2, %r2, %r1;
    st.global.u32 [%d4], %r2;
DONE:
    ret;
}
";

/// Loads PTX as a module.
///
/// # Errors
/// Those of [`Platform::module`].
pub fn module(platform: &Platform, device: DeviceId, ptx: &str) -> Result<Module, Error> {
    // SAFETY: PTX is text, and the driver checks it.
    platform.module(device, unsafe { CompiledCode::new(ptx.as_bytes()) })
}

/// Launches the `add` of [`ADD_PTX`].
///
/// # Errors
/// Those of [`CudaStream::launch_function`].
pub fn launch_add(
    stream: &CudaStream,
    add: &Function,
    data: &mut DeviceSlice<u32>,
    value: u32,
) -> Result<()> {
    launch_add_on(stream, add, Grid::elements(data.len()), data, value)
}

/// Like [`launch_add`], with a given grid that has at least as many threads as the slice has elements.
///
/// # Errors
/// Those of [`CudaStream::launch_function`].
pub fn launch_add_on(
    stream: &CudaStream,
    add: &Function,
    grid: Grid,
    data: &mut DeviceSlice<u32>,
    value: u32,
) -> Result<()> {
    // SAFETY: the function's parameters are an address, a length and a value, and the function touches only the slice.
    unsafe {
        Ok(stream.launch_function(add, grid, |to| {
            to.write("data", data);
            to.scalar(value);
        })?)
    }
}

/// Returns the data of a message without ordering a stream after it. Only for use with streamflow's own launches and
/// copies.
pub fn unordered_data<'t, A: Receive<'t>>(input: In<'t, A, Received>) -> A {
    // SAFETY: streamflow orders each launch and copy that uses the data.
    unsafe { input.into_unordered_data() }
}

/// A stream that was made directly in the driver, outside of streamflow.
#[derive(Debug)]
pub struct ForeignStream {
    driver: Arc<dyn Driver>,
    raw: RawStream,
}

impl ForeignStream {
    /// Makes a stream directly in the driver.
    ///
    /// # Errors
    /// Those of the driver.
    pub fn create(platform: &Platform, device: DeviceId) -> DriverResult<Self> {
        let driver = platform.driver().clone();
        driver.bind(device)?;
        let raw = driver.create_stream(device, StreamOptions::default())?;
        Ok(Self { driver, raw })
    }

    /// Borrows the stream for streamflow.
    ///
    /// # Errors
    /// Those of the platform.
    pub fn borrow<'a>(&'a self, platform: &Platform) -> Result<ExternalStream<'a>> {
        // SAFETY: the stream lives as long as the borrow, and the tests leak no wrapper.
        let borrowed = unsafe { BorrowedStream::new(self.raw.device(), self.raw.handle()) };
        Ok(platform.external_stream(borrowed)?)
    }

    /// Returns the driver's handle, for calls that the stream's owner makes.
    pub fn raw(&self) -> RawStream {
        self.raw
    }

    /// Returns the handle's number alone, as the stream's owner passes it on to other code.
    pub fn handle(&self) -> u64 {
        self.raw.handle()
    }

    /// Prepares a copy that the stream's owner can queue without streamflow. Source and target have the same length.
    /// Their addresses are requested on `stream`. That registers a use there, and the copy comes after this use.
    ///
    /// # Errors
    /// Those of the driver.
    pub fn copy_unseen(
        &self,
        stream: &CudaStream,
        source: &DeviceSlice<f32>,
        target: &mut DeviceSlice<f32>,
    ) -> Result<UnseenCopy<'_>> {
        let bytes = (source.len().min(target.len()) * size_of::<f32>()) as u64;
        let (mut from, mut to) = (0, 0);
        stream.read_raw(source, |address| from = address)?;
        stream.write_raw(target, |address| to = address)?;
        let copy = CopyOp {
            kind: CopyKind::DeviceToDevice,
            target: MemoryRange { address: to, bytes },
            source: MemoryRange { address: from, bytes },
            rows: None,
        };
        Ok(UnseenCopy { on: self, copy })
    }
}

/// Borrows a stream of which only the handle's number is known.
///
/// # Errors
/// Those of the platform and the driver.
pub fn find<'a>(platform: &Platform, handle: u64) -> Result<ExternalStream<'a>> {
    // SAFETY: the tests keep the stream until the wrapper is dropped, or the handle is refused.
    let borrowed = unsafe { BorrowedStream::find(&**platform.driver(), handle) }?;
    Ok(platform.external_stream(borrowed)?)
}

/// Uses a number that is no handle in each call that takes the handle of a stream or an event. Returns the results.
pub fn uses_of_a_number(
    platform: &Platform,
    stream: &CudaStream,
    number: u64,
) -> [(&'static str, std::result::Result<(), streamflow::Error>); 4] {
    // SAFETY: the number is the handle of nothing, and each call refuses it.
    let (theirs, event) = unsafe {
        (BorrowedStream::new(stream.device(), number), BorrowedEvent::new(stream.device(), number))
    };
    // SAFETY: the number is the handle of nothing, and the call refuses it.
    let found = unsafe { BorrowedStream::find(&**platform.driver(), number) };
    [
        ("stream", found.map(drop).map_err(Into::into)),
        ("stream", platform.external_stream(theirs).map(drop)),
        ("event", stream.wait_for_event(event)),
        ("event", stream.record_event(event)),
    ]
}

/// Returns the device of a stream of which only the handle's number is known.
///
/// # Errors
/// Those of the driver.
pub fn device_of(platform: &Platform, handle: u64) -> DriverResult<DeviceId> {
    // SAFETY: the tests keep the stream alive during the call.
    unsafe { BorrowedStream::find(&**platform.driver(), handle) }.map(BorrowedStream::device)
}

/// A copy that can be queued without streamflow.
#[derive(Debug)]
pub struct UnseenCopy<'a> {
    on: &'a ForeignStream,
    copy: CopyOp,
}

impl UnseenCopy<'_> {
    /// Queues the copy directly in the driver.
    ///
    /// # Errors
    /// Those of the driver.
    pub fn queue(&self) -> Result<()> {
        let ForeignStream { driver, raw } = self.on;
        driver.bind(raw.device())?;
        // SAFETY: both ranges are at least as long as the copy, and the tests keep them until the copy is done.
        Ok(unsafe { driver.copy(*raw, &self.copy) }?)
    }
}

impl Drop for ForeignStream {
    fn drop(&mut self) {
        let bound = self.driver.bind(self.raw.device());
        // SAFETY: this type made the stream and destroys it once; the stream is no longer borrowed.
        let destroyed = bound.and_then(|()| unsafe { self.driver.destroy_stream(self.raw) });
        assert!(destroyed.is_ok() || std::thread::panicking(), "{destroyed:?}");
    }
}

/// Queues a fill of all of `memory` directly in the driver.
///
/// # Errors
/// Those of the platform and the driver.
pub fn fill(
    platform: &Platform,
    stream: &CudaStream,
    memory: &mut DeviceSlice<f32>,
    byte: u8,
) -> Result<()> {
    let bytes = (memory.len() * size_of::<f32>()) as u64;
    let filled: DriverResult<()> = stream.write_raw(memory, |address| {
        let range = MemoryRange { address, bytes };
        // SAFETY: the address is of this memory, and the use is registered by `write_raw`.
        unsafe { platform.driver().fill(stream.raw(), range, byte) }
    })?;
    Ok(filled?)
}

/// Queues a copy directly in the driver. Source and target have the same length.
///
/// # Errors
/// Those of the platform and the driver.
pub fn copy<T: Element>(
    platform: &Platform,
    stream: &CudaStream,
    source: &DeviceSlice<T>,
    target: &mut DeviceSlice<T>,
) -> Result<()> {
    let bytes = (source.len().min(target.len()) * size_of::<T>()) as u64;
    if bytes == 0 {
        return Ok(());
    }
    let copied: Result<DriverResult<()>, Error> = stream.read_raw(source, |source| {
        stream.write_raw(target, |target| {
            let copy = within_device(source, target, bytes);
            // SAFETY: both ranges are at least this long, and the uses are registered.
            unsafe { platform.driver().copy(stream.raw(), &copy) }
        })
    })?;
    Ok(copied??)
}

/// Describes a copy between two addresses on one device.
fn within_device(source: u64, target: u64, bytes: u64) -> CopyOp {
    let [source, target] = [source, target].map(|address| MemoryRange { address, bytes });
    CopyOp { kind: CopyKind::DeviceToDevice, target, source, rows: None }
}

/// Queues a copy directly in the driver, without waits: this is a race unless the caller has ordered the copy. Source and
/// target have the same length. Blocks until the copy is done, so that the memory is not reused earlier.
///
/// # Errors
/// Those of the platform and the driver.
pub fn copy_unordered(
    platform: &Platform,
    stream: &CudaStream,
    source: &DeviceSlice<f32>,
    target: &mut DeviceSlice<f32>,
) -> Result<()> {
    let bytes = (source.len().min(target.len()) * size_of::<f32>()) as u64;
    // The source's address is requested on an unrelated stream, so `stream` gets no wait for the source.
    let pool = CudaStreamPool::new().device(stream.device());
    let aside = platform.stream_pool("ASIDE", &pool)?.allocate("an address")?;
    let (source, target) =
        (aside.read_raw(source, |address| address)?, stream.write_raw(target, |address| address)?);
    let copy = within_device(source, target, bytes);
    let raw = stream.raw();
    platform.driver().bind(raw.device())?;
    // SAFETY: both ranges are at least this long, and are kept until the copy is done: this call waits for it.
    Ok(unsafe {
        platform.driver().copy(raw, &copy).and_then(|()| platform.driver().synchronize_stream(raw))
    }?)
}

/// Queues a copy directly in the driver from a bare address, so that streamflow does not register the read. The source
/// is at least as long as `target`, and the caller keeps it until the copy is done.
///
/// # Errors
/// Those of the platform and the driver.
pub fn copy_from<T: Element>(
    platform: &Platform,
    stream: &CudaStream,
    source: u64,
    target: &mut DeviceSlice<T>,
) -> Result<()> {
    let bytes = (target.len() * size_of::<T>()) as u64;
    if bytes == 0 {
        return Ok(());
    }
    let copied: DriverResult<()> = stream.write_raw(target, |target| {
        let copy = within_device(source, target, bytes);
        // SAFETY: both ranges are at least this long: `write_raw` passed the target's address, and the caller
        // vouches for the source.
        unsafe { platform.driver().copy(stream.raw(), &copy) }
    })?;
    Ok(copied?)
}

/// Launches a kernel without the waits that its arguments need: this is a race unless the caller has ordered the launch.
///
/// # Errors
/// Those of [`CudaStream::launch_unordered`].
#[track_caller]
pub fn launch_unordered<K: Kernel>(
    stream: &CudaStream,
    grid: impl Into<Grid>,
    args: K::Args<'_>,
) -> Result<()> {
    // SAFETY: the kernels of these tests compute numbers from numbers, at indices that do not depend on data. So a race
    // makes only wrong data.
    unsafe { Ok(stream.launch_unordered::<K>(grid, args)?) }
}

/// Fills bytes of memory that the test has allocated itself.
///
/// # Errors
/// Those of the driver.
pub fn fill_range(driver: &dyn Driver, stream: RawStream, range: MemoryRange) -> DriverResult<()> {
    // SAFETY: these tests free their memory last.
    unsafe { driver.fill(stream, range, 1) }
}

/// Records an event.
///
/// # Errors
/// Those of the driver.
pub fn record(driver: &dyn Driver, event: RawEvent, stream: RawStream) -> DriverResult<()> {
    // SAFETY: these tests destroy their streams and events last.
    unsafe { driver.record_event(event, stream) }
}

/// Makes a stream wait for an event.
///
/// # Errors
/// Those of the driver.
pub fn wait(driver: &dyn Driver, stream: RawStream, event: RawEvent) -> DriverResult<()> {
    // SAFETY: these tests destroy their streams and events last.
    unsafe { driver.wait_event(stream, event) }
}

/// Makes a stream wait for all work of its device.
///
/// # Errors
/// Those of the driver.
pub fn wait_for_device(driver: &dyn Driver, stream: RawStream) -> DriverResult<()> {
    driver.bind(stream.device())?;
    // SAFETY: these tests destroy their streams last.
    unsafe { driver.wait_for_device(stream) }
}

/// Blocks until an event is complete.
///
/// # Errors
/// Those of the driver.
pub fn synchronize_event(driver: &dyn Driver, event: RawEvent) -> DriverResult<()> {
    // SAFETY: these tests destroy their events last.
    unsafe { driver.synchronize_event(event) }
}

/// Blocks until a stream is idle.
///
/// # Errors
/// Those of the driver.
pub fn synchronize_stream(driver: &dyn Driver, stream: RawStream) -> DriverResult<()> {
    // SAFETY: these tests destroy their streams last.
    unsafe { driver.synchronize_stream(stream) }
}

/// Makes an event on `device` and destroys it without binding the device first, as a library may do.
///
/// # Errors
/// Those of the driver, if another device is bound.
pub fn make_event(driver: &dyn Driver, device: DeviceId) -> DriverResult<()> {
    let event = driver.create_event(device)?;
    // SAFETY: the event was made in this function and is not shared.
    unsafe { driver.destroy_event(event) }
}
