//! Work that streamflow does not see: bare addresses, and compiled code of another origin. The
//! `unsafe` of such tests stands here.

mod bare;

pub use bare::{BYTES, Bare, part};

use std::sync::Arc;

use streamflow::driver::{
    CopyKind, CopyOp, Driver, DriverResult, MemoryRange, RawEvent, RawStream, StreamOptions,
};
use streamflow::kernel::{Function, Kernel, Module};
use streamflow::port::{Receive, Received};
use streamflow::prelude::*;
use streamflow::{BorrowedStream, ExternalStream};

/// `add(unsigned* data, unsigned long long len, unsigned value)`: adds `value` to each element, as
/// somebody wrote it by hand in PTX.
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

/// Loads PTX.
///
/// # Errors
/// As of [`Platform::module`].
pub fn module(platform: &Platform, device: DeviceId, ptx: &str) -> Result<Module> {
    // SAFETY: it is text.
    unsafe { platform.module(device, ptx.as_bytes()) }
}

/// Launches the `add` of [`ADD_PTX`].
///
/// # Errors
/// As of [`CudaStream::launch_function`].
pub fn launch_add(
    stream: &CudaStream,
    add: &Function,
    data: &mut DeviceSlice<u32>,
    value: u32,
) -> Result<()> {
    let len = data.len();
    // SAFETY: the function's parameters are an address, a length and a value, and it touches nothing
    // but the slice.
    unsafe {
        stream.launch_function(add, len, |to| {
            to.write("data", data);
            to.scalar(value);
        })
    }
}

/// Device data without its stream, for streamflow's own launches and copies alone.
pub fn unordered_data<'t, A: Receive<'t>>(input: In<'t, A, Received>) -> A {
    // SAFETY: as said, each use orders itself.
    unsafe { input.into_unordered_data() }
}

/// A stream that streamflow knows nothing of.
#[derive(Debug)]
pub struct ForeignStream {
    driver: Arc<dyn Driver>,
    raw: RawStream,
}

impl ForeignStream {
    /// Makes one, past streamflow.
    ///
    /// # Errors
    /// The driver's.
    pub fn create(platform: &Platform, device: DeviceId) -> DriverResult<Self> {
        let driver = platform.driver().clone();
        driver.bind(device)?;
        let raw = driver.create_stream(device, StreamOptions::default())?;
        Ok(Self { driver, raw })
    }

    /// Borrows it for streamflow.
    ///
    /// # Errors
    /// The platform's.
    pub fn borrow<'a>(&'a self, platform: &Platform) -> Result<ExternalStream<'a>> {
        // SAFETY: it lives as long as it is borrowed; the tests forget no wrapper.
        let borrowed = unsafe { BorrowedStream::new(self.raw.device(), self.raw.handle()) };
        platform.external_stream(borrowed)
    }

    /// A copy that its owner can queue past streamflow. Both are of one length. The addresses are asked
    /// for on `stream`, which counts as a use there: the copy comes after it.
    ///
    /// # Errors
    /// The driver's.
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
        };
        Ok(UnseenCopy { on: self, copy })
    }
}

/// A copy that streamflow does not see.
#[derive(Debug)]
pub struct UnseenCopy<'a> {
    on: &'a ForeignStream,
    copy: CopyOp,
}

impl UnseenCopy<'_> {
    /// Queues it.
    ///
    /// # Errors
    /// The driver's.
    pub fn queue(&self) -> Result<()> {
        let ForeignStream { driver, raw } = self.on;
        driver.bind(raw.device())?;
        // SAFETY: both addresses are of memory at least this long, which its users keep until the
        // copy is done.
        Ok(unsafe { driver.copy(*raw, &self.copy) }?)
    }
}

impl Drop for ForeignStream {
    fn drop(&mut self) {
        let bound = self.driver.bind(self.raw.device());
        // SAFETY: made here, not borrowed any more, and destroyed once.
        let destroyed = bound.and_then(|()| unsafe { self.driver.destroy_stream(self.raw) });
        assert!(destroyed.is_ok() || std::thread::panicking(), "{destroyed:?}");
    }
}

/// Queues a fill of all of `memory` through the driver, past streamflow.
///
/// # Errors
/// The platform's; the driver's.
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

/// Queues a copy through the driver, past streamflow. Both are of one length.
///
/// # Errors
/// The platform's; the driver's.
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
    let copied: Result<DriverResult<()>> = stream.read_raw(source, |source| {
        stream.write_raw(target, |target| {
            let copy = within_device(source, target, bytes);
            // SAFETY: both addresses are of memory at least this long, and the uses are registered.
            unsafe { platform.driver().copy(stream.raw(), &copy) }
        })
    })?;
    Ok(copied??)
}

/// A copy within one device, between these addresses.
fn within_device(source: u64, target: u64, bytes: u64) -> CopyOp {
    let [source, target] = [source, target].map(|address| MemoryRange { address, bytes });
    CopyOp { kind: CopyKind::DeviceToDevice, target, source }
}

/// Queues a copy through the driver on a stream's handle, which waits for nothing: a race, unless the caller has seen
/// to it. Both are of one length. Blocks until it is done, so that the memory is not used again before.
///
/// # Errors
/// The platform's; the driver's.
pub fn copy_unordered(
    platform: &Platform,
    stream: &CudaStream,
    source: &DeviceSlice<f32>,
    target: &mut DeviceSlice<f32>,
) -> Result<()> {
    let bytes = (source.len().min(target.len()) * size_of::<f32>()) as u64;
    // The address is asked for on a stream that has nothing to do with it.
    let pool = CudaStreamPool::new().device(stream.device());
    let aside = platform.stream_pool("ASIDE", &pool)?.allocate("an address")?;
    let (source, target) = (aside.read_raw(source, |it| it)?, stream.write_raw(target, |it| it)?);
    let copy = within_device(source, target, bytes);
    let raw = stream.raw();
    platform.driver().bind(raw.device())?;
    // SAFETY: both addresses are of memory at least this long, which is kept until the copy is done: it is waited for
    // here.
    Ok(unsafe {
        platform.driver().copy(raw, &copy).and_then(|()| platform.driver().synchronize_stream(raw))
    }?)
}

/// Queues a copy through the driver on the raw stream, from an address of memory of which streamflow is
/// not told that it is read. It is at least as long as `target`, and the caller keeps it until then.
///
/// # Errors
/// The platform's; the driver's.
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
        // SAFETY: both addresses are of memory at least this long: the one was just told, and the
        // caller vouches for the other.
        unsafe { platform.driver().copy(stream.raw(), &copy) }
    })?;
    Ok(copied?)
}

/// Launches without waiting for what the arguments must come after: a race, unless the caller has seen
/// to it.
///
/// # Errors
/// As of [`CudaStream::launch_unordered`].
#[track_caller]
pub fn launch_unordered<K: Kernel>(
    stream: &CudaStream,
    grid: impl Into<Grid>,
    args: K::Args<'_>,
) -> Result<()> {
    // SAFETY: the kernels of these tests compute numbers from numbers, at indices that depend on no
    // data: what a race does there is wrong data.
    unsafe { stream.launch_unordered::<K>(grid, args) }
}

/// Blocks until an event is complete.
///
/// # Errors
/// The driver's.
pub fn synchronize_event(driver: &dyn Driver, event: RawEvent) -> DriverResult<()> {
    // SAFETY: these tests destroy their events last.
    unsafe { driver.synchronize_event(event) }
}

/// Blocks until a stream is idle.
///
/// # Errors
/// The driver's.
pub fn synchronize_stream(driver: &dyn Driver, stream: RawStream) -> DriverResult<()> {
    // SAFETY: these tests destroy their streams last.
    unsafe { driver.synchronize_stream(stream) }
}

/// Makes an event on the device that is bound, as a library does that was told `device`, and gives it back.
///
/// # Errors
/// The driver's, also when another device is bound.
pub fn make_event(driver: &dyn Driver, device: DeviceId) -> DriverResult<()> {
    let event = driver.create_event(device)?;
    // SAFETY: made just now, and nobody else knows it.
    unsafe { driver.destroy_event(event) }
}
