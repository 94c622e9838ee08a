//! Memory that other code owns, with a stream of that code that writes it. When the owner gets its memory back, it
//! overwrites the memory with poison.

use std::ffi::c_void;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use streamflow::driver::{Driver, RawStream};
use streamflow::memory::dlpack::{DlExport, DlTensor};
use streamflow::memory::{After, DeviceSlice, ForeignMemory, PitchedTensor};
use streamflow::platform::DeviceId;
use streamflow::prelude::*;
use streamflow::stream::BorrowedEvent;
use streamflow_driver::driver::cuda::CudaDriver;
use streamflow_driver::driver::{
    CopyKind, CopyOp, DriverResult, HostFunction, MemoryRange, MemorySource, RawEvent,
    StreamOptions,
};

/// The byte with which [`Outside::write`] fills memory.
pub const BYTE: u8 = 0x40;

/// The `f32` whose four bytes are [`BYTE`].
pub const VALUE: f32 = f32::from_bits(u32::from_ne_bytes([BYTE; 4]));

/// The byte with which the owner fills its memory after it got the memory back.
const POISON: u8 = 0xf3;

/// A function that an owner calls when it gets its memory back, before it poisons the memory.
type OnReturn = Box<dyn FnOnce() + Send>;

/// Memory of other code, for elements of `f32`. On a GPU a driver of its own allocates and uses the memory. On the
/// simulator it is ordinary host memory. So no layer of the platform's driver sees the other code's uses of the memory,
/// as with a real library.
pub struct Outside {
    /// The driver of the other code. On the simulator this is the platform's driver, which calls host functions on its
    /// streams.
    driver: Arc<dyn Driver>,
    device: DeviceId,
    range: MemoryRange,
    on_return: Option<OnReturn>,
    at_the_end: Option<OnReturn>,
    returned: Arc<Returned>,
}

/// Shared state that says whether the owner has its memory back.
#[derive(Debug, Default)]
pub struct Returned {
    is_back: AtomicBool,
    thread: Mutex<Option<ThreadId>>,
}

impl Returned {
    /// Whether the owner has its memory back.
    pub fn is_back(&self) -> bool {
        self.is_back.load(Ordering::Acquire)
    }

    /// Returns the thread that the owner got the memory back on.
    pub fn thread(&self) -> Option<ThreadId> {
        *self.thread.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Blocks until the owner has the memory back, for at most 10 s. Returns whether it has.
    pub fn wait(&self) -> bool {
        let end = Instant::now() + Duration::from_secs(10);
        while !self.is_back() && Instant::now() < end {
            thread::yield_now();
        }
        self.is_back()
    }
}

impl Outside {
    /// Allocates memory for `len` elements, which are 0.
    ///
    /// # Errors
    /// Those of the driver.
    pub fn new(platform: &Platform, len: usize) -> Result<Self> {
        let (driver, device) = (library(platform)?, device(0));
        let bytes = (len * size_of::<f32>()) as u64;
        let range = if is_simulated(&*driver) {
            // The memory is never freed: in a control that drops waits, work may use it after its owner got it back.
            let storage = vec![0.0_f32; len].leak();
            MemoryRange { address: storage.as_mut_ptr().expose_provenance() as u64, bytes }
        } else {
            on_a_stream(&*driver, device, |stream| {
                // SAFETY: the stream is alive, and the memory was just allocated.
                unsafe {
                    let range = driver.allocate(stream, bytes, MemorySource::Unused)?;
                    driver.fill(stream, range, 0).map(|()| range)
                }
            })?
        };
        let (on_return, returned) = (None, Arc::default());
        Ok(Self { driver, device, range, on_return, at_the_end: None, returned })
    }

    /// Sets what the owner does last, after it has freed its memory.
    #[must_use]
    pub fn at_the_end(mut self, call: impl FnOnce() + Send + 'static) -> Self {
        self.at_the_end = Some(Box::new(call));
        self
    }

    /// Sets what the owner does first when it gets its memory back.
    #[must_use]
    pub fn on_return(mut self, call: impl FnOnce() + Send + 'static) -> Self {
        self.on_return = Some(Box::new(call));
        self
    }

    /// Returns the shared state that says whether the owner has its memory back.
    pub fn returned(&self) -> Arc<Returned> {
        self.returned.clone()
    }

    /// Queues a write of [`VALUE`] to all elements, unseen by streamflow.
    ///
    /// # Errors
    /// Those of the driver.
    pub fn write(&mut self, stream: RawStream) -> Result<()> {
        self.driver.bind(self.device)?;
        if !is_simulated(&*self.driver) {
            // SAFETY: the memory lives until its owner gets it back, after this write.
            return Ok(unsafe { self.driver.fill(stream, self.range, BYTE) }?);
        }
        let data = Box::into_raw(Box::new(self.range)).cast();
        // SAFETY: the memory lives until its owner gets it back, after this write. The host function owns its data.
        Ok(unsafe { self.driver.launch_host_function(stream, HostFunction { call: write, data }) }?)
    }

    /// Adopts the memory as a tensor of `f32`.
    ///
    /// # Errors
    /// Those of the platform.
    pub fn adopt(self, platform: &Platform, after: After<'_>) -> Result<Tensor<f32>> {
        self.adopt_as(platform, after)
    }

    /// Adopts the memory as a tensor of elements of another type.
    ///
    /// # Errors
    /// Those of the platform.
    pub fn adopt_as<T: Element>(self, platform: &Platform, after: After<'_>) -> Result<Tensor<T>> {
        let (device, MemoryRange { address, bytes }) = (self.device, self.range);
        let len = bytes as usize / size_of::<T>();
        // SAFETY: the memory lives as long as its owner, and no other code uses it after `after`.
        let memory = unsafe { ForeignMemory::new(device, address, bytes, self) };
        Ok(platform.adopt_tensor(memory, [len], after)?)
    }

    /// Adopts the memory as an array with strides, in bytes.
    ///
    /// # Errors
    /// Those of the platform.
    pub fn adopt_rows<const N: usize>(
        self,
        platform: &Platform,
        shape: [usize; N],
        strides: [i64; N],
        after: After<'_>,
    ) -> Result<PitchedTensor<f32>> {
        let (device, MemoryRange { address, bytes }) = (self.device, self.range);
        // SAFETY: the memory lives as long as its owner, and no other code uses it after `after`.
        let memory = unsafe { ForeignMemory::new(device, address, bytes, self) };
        Ok(platform.adopt_pitched(memory, shape, &strides, after)?)
    }
}

/// Adopts these columns of a matrix as an array with padded rows that other code passes, which has the matrix at `address`. The
/// array's memory ends with its last element.
///
/// # Errors
/// Those of the platform.
pub fn columns_from_outside(
    platform: &Platform,
    (whole, address): (&Shared<Tensor<f32>>, u64),
    columns: Range<usize>,
    after: After<'_>,
) -> Result<PitchedTensor<f32>> {
    let (rows, cols, size) = (whole.rows(), whole.cols(), size_of::<f32>());
    let address = address + (columns.start * size) as u64;
    let bytes = (((rows - 1) * cols + columns.len()) * size) as u64;
    // SAFETY: the owner keeps the memory, and the tests use the matrix again only after the work on its columns.
    let memory = unsafe { ForeignMemory::new(whole.device(), address, bytes, whole.clone()) };
    let strides = [(cols * size) as i64, size as i64];
    let shape = [rows, columns.len()];
    Ok(platform.adopt_pitched(memory, shape, &strides, after)?)
}

impl Drop for Outside {
    fn drop(&mut self) {
        if let Some(call) = self.on_return.take() {
            call();
        }
        let done = if is_simulated(&*self.driver) {
            set(self.range, POISON);
            Ok(())
        } else {
            on_a_stream(&*self.driver, self.device, |stream| {
                // SAFETY: the owner has its memory back, so no other code uses it.
                unsafe {
                    self.driver.fill(stream, self.range, POISON)?;
                    self.driver.synchronize_stream(stream)?;
                    self.driver.free(stream, self.range)
                }
            })
        };
        if let Some(call) = self.at_the_end.take() {
            call();
        }
        *self.returned.thread.lock().unwrap_or_else(PoisonError::into_inner) =
            Some(thread::current().id());
        self.returned.is_back.store(true, Ordering::Release);
        assert!(done.is_ok() || thread::panicking(), "{done:?}");
    }
}

impl std::fmt::Debug for Outside {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Outside({:?})", self.range)
    }
}

/// Returns the driver that the other code uses.
pub(super) fn library(platform: &Platform) -> DriverResult<Arc<dyn Driver>> {
    static OF_GPU: OnceLock<Arc<CudaDriver>> = OnceLock::new();
    if is_simulated(&**platform.driver()) {
        return Ok(platform.driver().clone());
    }
    if let Some(driver) = OF_GPU.get() {
        return Ok(driver.clone());
    }
    let made = Arc::new(CudaDriver::new()?);
    Ok(OF_GPU.get_or_init(|| made).clone())
}

fn is_simulated(driver: &dyn Driver) -> bool {
    driver.name() == "host"
}

unsafe extern "C" fn write(data: *mut c_void) {
    // SAFETY: `Outside::write` made the box for this one call.
    let range = *unsafe { Box::from_raw(data.cast::<MemoryRange>()) };
    set(range, BYTE);
}

/// Sets the bytes of host memory that [`Outside::new`] has allocated.
fn set(range: MemoryRange, byte: u8) {
    let start = std::ptr::with_exposed_provenance_mut::<u8>(range.address as usize);
    // SAFETY: the memory is never freed.
    unsafe { start.write_bytes(byte, range.bytes as usize) };
}

/// Calls `queue` with a new stream, and waits for the work that it queues.
fn on_a_stream<R>(
    driver: &dyn Driver,
    device: DeviceId,
    queue: impl FnOnce(RawStream) -> DriverResult<R>,
) -> DriverResult<R> {
    driver.bind(device)?;
    let stream = driver.create_stream(device, StreamOptions::default())?;
    // SAFETY: the stream was made above, and is destroyed last.
    unsafe {
        let done = queue(stream);
        driver.synchronize_stream(stream)?;
        driver.destroy_stream(stream)?;
        done
    }
}

/// An event that other code owns.
#[derive(Debug)]
pub struct ForeignEvent {
    driver: Arc<dyn Driver>,
    raw: RawEvent,
}

impl ForeignEvent {
    /// Makes an event and records it.
    ///
    /// # Errors
    /// Those of the driver.
    pub fn recorded(platform: &Platform, stream: RawStream) -> Result<Self> {
        let driver = platform.driver().clone();
        driver.bind(stream.device())?;
        let raw = driver.create_event(stream.device())?;
        // SAFETY: the event and the stream are alive.
        unsafe { driver.record_event(raw, stream) }?;
        Ok(Self { driver, raw })
    }

    /// Makes a stream of other code wait for the event. streamflow does not see this wait.
    ///
    /// # Errors
    /// Those of the driver.
    pub fn hold_back(&self, stream: RawStream) -> Result<()> {
        self.driver.bind(stream.device())?;
        // SAFETY: the event and the stream are alive.
        Ok(unsafe { self.driver.wait_event(stream, self.raw) }?)
    }

    /// Borrows the event for streamflow.
    pub fn borrow(&self) -> BorrowedEvent<'_> {
        // SAFETY: the event is alive while it is borrowed.
        unsafe { BorrowedEvent::new(self.raw.device(), self.raw.handle()) }
    }
}

impl Drop for ForeignEvent {
    fn drop(&mut self) {
        let bound = self.driver.bind(self.raw.device());
        // SAFETY: this type made the event, which is no longer borrowed, and destroys it once.
        let destroyed = bound.and_then(|()| unsafe { self.driver.destroy_event(self.raw) });
        assert!(destroyed.is_ok() || thread::panicking(), "{destroyed:?}");
    }
}

/// Makes a stream wait for all work on another one, as other code does: `driver` is below the layers of a platform, so
/// the layers see nothing of it.
///
/// # Errors
/// Those of the driver.
pub fn order_outside(driver: &dyn Driver, from: RawStream, to: RawStream) -> Result<()> {
    driver.bind(from.device())?;
    let event = driver.create_event(from.device())?;
    // SAFETY: the streams are alive. The event is destroyed after its record and its wait were queued, and a driver
    // finishes both.
    unsafe {
        driver.record_event(event, from)?;
        driver.wait_event(to, event)?;
        Ok(driver.destroy_event(event)?)
    }
}

/// Queues a fill of a tensor that was exported to other code, as that code does it.
///
/// # Errors
/// Those of the driver.
pub fn fill_outside(
    driver: &dyn Driver,
    stream: RawStream,
    tensor: &DlTensor,
    byte: u8,
) -> Result<()> {
    let len: i64 = tensor.shape().iter().product();
    let bytes = len as u64 * u64::from(tensor.dtype().bits) / 8;
    let range = MemoryRange { address: tensor.address(), bytes };
    driver.bind(stream.device())?;
    // SAFETY: the range is the tensor's memory, and the tensor is not given back yet.
    Ok(unsafe { driver.fill(stream, range, byte) }?)
}

/// Imports a tensor that was exported to other code, as that code passes it back.
///
/// # Errors
/// Those of [`DlTensor::from_versioned`].
pub fn from_outside(given: DlExport) -> Result<DlTensor> {
    // SAFETY: no other pointer to the structure is used.
    Ok(unsafe { DlTensor::from_versioned(given.into_raw()) }?)
}

/// Registers a write of a shared tensor on a stream, for other code that works there.
///
/// # Errors
/// Those of streamflow.
pub fn use_shared(tensor: &Shared<Tensor<f32>>, stream: &CudaStream) -> Result<u64> {
    // SAFETY: the tests write the tensor on this stream alone.
    Ok(unsafe { tensor.write_raw(stream, |address| address) }?)
}

/// Queues a fill of elements at a bare address, with the bytes of [`VALUE`], directly in the driver.
///
/// # Errors
/// Those of the driver.
pub fn write_outside(
    platform: &Platform,
    stream: RawStream,
    address: u64,
    len: usize,
) -> Result<()> {
    let range = MemoryRange { address, bytes: (len * size_of::<f32>()) as u64 };
    platform.driver().bind(stream.device())?;
    // SAFETY: the tests keep the memory until this work is complete.
    Ok(unsafe { platform.driver().fill(stream, range, BYTE) }?)
}

/// Queues a copy from a bare address to memory of other code. The other code got `source` for memory of streamflow; the
/// address of `target` is requested on `stream`.
///
/// # Errors
/// Those of the driver.
pub fn read_outside(
    platform: &Platform,
    stream: &CudaStream,
    source: u64,
    target: &mut DeviceSlice<f32>,
) -> Result<()> {
    let bytes = (target.len() * size_of::<f32>()) as u64;
    let copied: DriverResult<()> = stream.write_raw(target, |target| {
        let [source, target] = [source, target].map(|address| MemoryRange { address, bytes });
        let copy = CopyOp { kind: CopyKind::DeviceToDevice, target, source, rows: None };
        // SAFETY: source and target have this length. The caller gives the source back after this call.
        unsafe { platform.driver().copy(stream.raw(), &copy) }
    })?;
    Ok(copied?)
}
