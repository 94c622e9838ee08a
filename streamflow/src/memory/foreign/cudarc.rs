//! Memory to and from [cudarc], the crate that candle and others are built on. Nothing is copied, and the host does not
//! block.
//!
//! - [`CudaStream::read_cudarc`] and [`write_cudarc`](CudaStream::write_cudarc) lend a tensor as a view for one claim:
//!   cudarc's work with the view is a use, like a launch.
//! - [`Tensor::into_cudarc`] lends a tensor as a slice for as long as cudarc needs it.
//! - [`Platform::adopt_cudarc`](crate::Platform::adopt_cudarc) takes a slice over, as a tensor.
//!
//! # Order
//! cudarc's stream comes after the uses of the tensor so far, and later uses come after cudarc's work on that stream. Other
//! streams of cudarc are ordered by cudarc's own events, if its context tracks them: they come after the stream that the
//! view was made for. cudarc keeps a single event for all readers of a slice, so the order after the slower of two
//! readers on two other streams is lost; queue each read on the stream of the view, or order the streams by
//! [`CudaStream::after_cudarc`](crate::CudaStream::after_cudarc).
//!
//! A context tracks nothing while it has no stream that was made by its own `CudaContext::new_stream` or by `fork`: before the
//! first one, and again after the last one is dropped. Then work of streamflow that follows a claim or an adoption comes after
//! all work that the device has. A kept stream of the context avoids that. After `disable_event_tracking` the stream of the view
//! or of the slice is ordered, and the program orders the others.
//!
//! # Captures
//! No call takes a stream that is being captured into a graph: its work would be executed with each launch of the graph, and
//! be in no order with that of streamflow. A slice that was adopted before is freed when the capture has ended.
//!
//! All context objects stand for the primary context of their device. A program makes its own object by
//! `CudaContext::new`. It is another object than that of streamflow, with its own switch for tracking.

use std::fmt;
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::sync::Arc;

use cudarc::driver::sys::CUresult as Code;
use cudarc::driver::{
    CudaContext, CudaSlice, CudaStream as Theirs, CudaView, CudaViewMut, DevicePtrMut, DriverError,
};

use super::adopt::{After, ForeignMemory};
use super::lent::{CAPTURE, Returner, lend};
use super::reaper;
use crate::caught::caught;
use crate::driver::{AccessMode, BorrowedEvent, DeviceId, Note, StreamOptions, current};
use crate::error::{Error, Result};
use crate::memory::border;
use crate::memory::border::counts::{self, Count};
use crate::memory::border::task::{Task, entry};
use crate::memory::{DeviceSlice, Element, MemoryPool, Shape, Tensor};
use crate::stream::{
    CudaStream, check_context, check_no_capture, failed, is_captured, orders_streams,
};

/// The name of a view in errors.
const VIEW: &str = "a tensor for cudarc";

impl CudaStream {
    /// Calls `queue` with memory as a view of cudarc. `queue` may queue work of cudarc on `theirs` that reads it. That
    /// work is a use of the memory on this stream: it comes after the last write, and later writes and the free come
    /// after it.
    ///
    /// If `theirs` is another stream than this one, it waits for this one before `queue` is called, and this one waits
    /// for it afterwards, by an event each. So `theirs` may be any stream of cudarc, also a default stream. A
    /// per-thread default stream means that of the calling thread.
    ///
    /// `queue` may use the view on other streams of the same context object: cudarc orders these by its events. In two
    /// cases cudarc does not. First, it notes no use on a stream of another context object that tracks nothing. That is
    /// a race, as it is with a slice of cudarc's own: use one context object for all streams, and a per-thread default
    /// stream only on the calling thread. Second, it waits for no noted use after the last stream of `new_stream` is
    /// dropped. Then this stream waits for all work that the device has; that needs a driver of CUDA 12.5.
    ///
    /// # Errors
    /// [`Error::Exchange`] for a stream of another device or of a context that is not the primary one, for a stream that
    /// is being captured, for an error that cudarc has kept, and on the simulator; otherwise as for
    /// [`read_raw`](Self::read_raw). An error of an earlier call is found before `queue` is called. Unlike `read_raw`,
    /// this method may also fail after `queue` has returned. Then the host has waited for cudarc's work on the device,
    /// the result of `queue` is dropped, and memory that the work was to write counts as unwritten. A second call of this
    /// method queues the work again.
    #[track_caller]
    pub fn read_cudarc<T: Element, R>(
        &self,
        memory: &DeviceSlice<T>,
        theirs: &Arc<Theirs>,
        queue: impl FnOnce(CudaView<'_, T>) -> R,
    ) -> Result<R> {
        let len = memory.len();
        self.with_raw(memory, AccessMode::Read, |address| {
            self.claimed(address, len, theirs, |slice| queue(slice.as_view()))
                .map_err(|error| self.explained(theirs, error))
        })
    }

    /// [`read_cudarc`](Self::read_cudarc) for work that writes the memory.
    ///
    /// # Errors
    /// As for [`read_cudarc`](Self::read_cudarc).
    #[track_caller]
    pub fn write_cudarc<T: Element, R>(
        &self,
        memory: &mut DeviceSlice<T>,
        theirs: &Arc<Theirs>,
        queue: impl FnOnce(CudaViewMut<'_, T>) -> R,
    ) -> Result<R> {
        let len = memory.len();
        self.with_raw(memory, AccessMode::Write, |address| {
            self.claimed(address, len, theirs, |slice| queue(slice.as_view_mut()))
                .map_err(|error| self.explained(theirs, error))
        })
    }

    /// Passes memory that this stream has claimed to `queue`, as a slice of cudarc.
    fn claimed<T, R>(
        &self,
        address: u64,
        len: usize,
        theirs: &Arc<Theirs>,
        queue: impl FnOnce(&mut CudaSlice<T>) -> R,
    ) -> Result<R> {
        check_context(self.table(), self.device(), theirs.context(), VIEW)?;
        // An error of an earlier call fails the claim before anything is queued.
        kept_error(theirs)?;
        self.before_checked(theirs)?;
        // Declared before the slice, so dropped after it if `queue` panics.
        let is_ordered = orders_streams(theirs.context());
        let mut joining = Joining { ours: Some(self), theirs, is_ordered };
        // SAFETY: the memory is claimed until this stream comes after `theirs`, which happens before this function returns.
        let mut slice = unsafe { Unowned::new(theirs, address, len) }?;
        let queued = queue(&mut slice.0);
        // Dropping the slice makes `theirs` come after the other streams on which cudarc has used the view.
        drop(slice);
        joining.join()?;
        Ok(queued)
    }
}

/// A guard that makes a stream of streamflow come after a stream of cudarc when it is dropped, also if the code that
/// queues work in between panics.
struct Joining<'a> {
    /// The stream of streamflow. `None` after it was made to come after `theirs`.
    ours: Option<&'a CudaStream>,
    theirs: &'a Theirs,
    /// Whether cudarc or the program ordered uses of the view on other streams when the view was made.
    is_ordered: bool,
}

impl Joining<'_> {
    fn join(&mut self) -> Result<()> {
        let Some(ours) = self.ours.take() else { return Ok(()) };
        // This call also returns an error that cudarc has kept, for example that of a wait that cudarc could not queue.
        let mut joined = ours.after_checked(self.theirs);
        let is_ordered = self.is_ordered && orders_streams(self.theirs.context());
        if joined.is_ok() && !is_ordered && !ours.is_same(self.theirs) {
            joined = ours.timeline().wait_for_device().map_err(Into::into);
        }
        if joined.is_err() {
            // Later uses can't be ordered after the work on cudarc's streams any more, so the host waits until that work
            // is complete.
            let _other = current::other_code();
            if let Err(error) = self.theirs.context().synchronize() {
                let error = failed("waiting for work of cudarc", error);
                tracing::error!(%error, "later uses of memory are not ordered after work of cudarc");
            }
        }
        joined
    }
}

impl Drop for Joining<'_> {
    fn drop(&mut self) {
        if let Err(error) = self.join() {
            tracing::error!(%error, "work of cudarc could not be ordered");
        }
    }
}

/// A slice of cudarc that does not free its memory.
struct Unowned<T>(ManuallyDrop<CudaSlice<T>>);

impl<T> Unowned<T> {
    /// Creates a slice. Uses of it on `theirs` come after the work that is queued there. If the context tracks events,
    /// uses on cudarc's other streams do, too.
    ///
    /// # Safety
    /// The memory has `len` elements, and no work with it is queued on `theirs` or on other streams of cudarc after it
    /// is freed.
    unsafe fn new(theirs: &Arc<Theirs>, address: u64, len: usize) -> Result<Self> {
        let _other = current::other_code();
        let bound = theirs.context().bind_to_thread();
        bound.map_err(|error| failed("making the context of cudarc current", error))?;
        // SAFETY: the caller guarantees the length and that the memory lives long enough; its content is initialised.
        let made = caught(|| unsafe { theirs.upgrade_device_ptr::<T>(address, len) });
        let slice = made.map_err(|panic| Error::Exchange {
            what: VIEW.to_owned(),
            reason: format!("cudarc has panicked when it made its events: {panic}"),
            remedy: "the device may have no memory left, or have failed".to_owned(),
        })?;
        let mut slice = Self(ManuallyDrop::new(slice));
        // Makes cudarc record a write.
        drop(slice.0.device_ptr_mut(theirs).1);
        Ok(slice)
    }
}

impl<T> Drop for Unowned<T> {
    /// Leaks the slice, so that cudarc does not free the memory. The slice's stream then comes after all uses that cudarc
    /// has noted.
    fn drop(&mut self) {
        let _other = current::other_code();
        // SAFETY: the value is dropped, so nothing uses the field again.
        unsafe { ManuallyDrop::take(&mut self.0) }.leak();
    }
}

/// An error of an earlier call that a context has kept. Each call that makes the context current would return this error
/// and do nothing else. The drop puts the error back into the context, where the program finds it.
struct Earlier {
    context: Arc<CudaContext>,
    error: std::result::Result<(), DriverError>,
}

impl Earlier {
    fn take(context: &Arc<CudaContext>) -> Self {
        Self { context: context.clone(), error: context.check_err() }
    }
}

impl Drop for Earlier {
    fn drop(&mut self) {
        self.context.record_err(self.error);
    }
}

/// Returns an error that cudarc has kept because it had no caller to return it to, for example that of a wait.
fn kept_error(theirs: &Theirs) -> Result<()> {
    theirs.context().check_err().map_err(|error| failed("ordering work of cudarc", error))
}

/// A tensor that is lent to cudarc until the `LentSlice` is dropped. Made by [`Tensor::into_cudarc`]; derefs to the
/// slice.
#[must_use = "dropping it ends the loan"]
pub struct LentSlice<T: Element> {
    slice: Unowned<T>,
    /// The returner of the memory. `None` after the memory was given back.
    returner: Option<Returner>,
}

impl<T: Element> LentSlice<T> {
    /// The whole slice, for work that writes it.
    pub fn as_view_mut(&mut self) -> CudaViewMut<'_, T> {
        self.slice.0.as_view_mut()
    }
}

impl<T: Element> Deref for LentSlice<T> {
    type Target = CudaSlice<T>;

    fn deref(&self) -> &CudaSlice<T> {
        &self.slice.0
    }
}

impl<T: Element> fmt::Debug for LentSlice<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LentSlice<{}>[{}]", T::DTYPE, self.len())
    }
}

impl<T: Element> Drop for LentSlice<T> {
    /// Gives the memory back: the pool uses it again after all work that the device has at that time. Does not wait,
    /// and may run on any thread.
    fn drop(&mut self) {
        if let Some(returner) = self.returner.take() {
            returner.give_back();
        }
    }
}

impl<T: Element> Tensor<T> {
    /// Lends the tensor to cudarc as a slice on `theirs`. Later work on `theirs` and on `stream`, a stream of
    /// streamflow, comes after the uses of the tensor so far. When the slice is dropped, the memory returns to its
    /// pool, and is used again only after the work that the device has at that time. Does not block.
    ///
    /// # Errors
    /// [`Error::Exchange`] as for [`CudaStream::read_cudarc`]; [`Error::WrongDevice`]; the driver's, also for a driver
    /// older than CUDA 12.5: it could not take the memory back. After an error the tensor is dropped. An error that
    /// cudarc has kept from an earlier call does not count, and stays for the program.
    #[track_caller]
    pub fn into_cudarc(self, stream: &CudaStream, theirs: &Arc<Theirs>) -> Result<LentSlice<T>> {
        let block = self.owned_block();
        block.check(stream, VIEW)?;
        block.pool().check_take_back()?;
        check_context(&block.pool().table, stream.device(), theirs.context(), VIEW)?;
        let _earlier = Earlier::take(theirs.context());
        stream.timeline().ready()?;
        block.order_written(stream, AccessMode::Write)?;
        let (raw, range, mode) = (stream.raw(), block.range(), AccessMode::Write);
        let location = std::panic::Location::caller();
        block.pool().table.observe(&Note::ForeignAccess { stream: raw, range, mode, location });
        stream.before_checked(theirs)?;
        let (address, len) = (range.address, self.len());
        // SAFETY: the tensor keeps the memory until the slice is dropped, and afterwards until the device has done the
        // slice's work.
        let slice = unsafe { Unowned::new(theirs, address, len) }?;
        let mut lent = LentSlice { slice, returner: None };
        kept_error(theirs)?;
        lent.returner = Some(lend(self)?);
        Ok(lent)
    }
}

/// The owner of a slice of cudarc. The thread that drops it has no current context.
struct Owner<T: Element>(ManuallyDrop<CudaSlice<T>>);

impl<T: Element> Drop for Owner<T> {
    fn drop(&mut self) {
        // SAFETY: the value is dropped, so nothing uses the field again.
        let slice = unsafe { ManuallyDrop::take(&mut self.0) };
        let context = slice.context().clone();
        let _other = current::other_code();
        let _earlier = Earlier::take(&context);
        if waits_for_capture(slice.stream()) {
            counts::add(Count::Adopted);
            return reaper::add(entry(AfterCapture(Self(ManuallyDrop::new(slice)))));
        }
        // cudarc frees a slice without making the context current, and keeps the error of the failed free.
        let bound = context.bind_to_thread();
        if bound.is_ok() {
            drop(slice);
        } else {
            counts::add(Count::Leaked);
            std::mem::forget(slice);
        }
        let freed = bound.and_then(|()| context.check_err());
        if let Err(error) = freed
            && error.0 != Code::CUDA_ERROR_DEINITIALIZED
        {
            let error = failed("freeing a slice of cudarc", error);
            tracing::error!(%error, "a slice of cudarc is lost");
        }
        context.record_err(freed);
    }
}

/// Whether memory can't be freed on a stream because of a capture, even one that has failed.
fn waits_for_capture(theirs: &Theirs) -> bool {
    is_captured(theirs).unwrap_or_else(|error| CAPTURE.contains(&(error.0 as i32)))
}

/// A slice that waits for the end of its stream's capture.
struct AfterCapture<T: Element>(Owner<T>);

impl<T: Element> Task for AfterCapture<T> {
    fn execute(self: Box<Self>) -> Option<Box<dyn Task>> {
        let context = self.0.0.context().clone();
        let waits = {
            let _earlier = Earlier::take(&context);
            waits_for_capture(self.0.0.stream())
        };
        current::doubt();
        if waits {
            return Some(self);
        }
        reaper::give_back(border::Owner::new(self.0));
        None
    }

    fn count(&self) -> Count {
        Count::Adopted
    }
}

impl MemoryPool {
    /// Records an event for all work that the device has, including that of other code.
    fn record_device(&self, event: BorrowedEvent<'_>) -> Result<()> {
        let timeline = self.table.take(self.device(), StreamOptions::default())?;
        let recorded = timeline.wait_for_device().and_then(|()| timeline.record_borrowed(event));
        self.table.return_stream(timeline);
        Ok(recorded?)
    }

    /// Adopts a slice of this pool's device.
    #[track_caller]
    pub(crate) fn adopt_cudarc<T: Element>(
        self: &Arc<Self>,
        device: DeviceId,
        slice: CudaSlice<T>,
        shape: &Shape,
    ) -> Result<Tensor<T>> {
        let mut owner = Owner(ManuallyDrop::new(slice));
        // The reaper must run, since it frees a slice that is refused while its stream is captured.
        reaper::start()?;
        let theirs = owner.0.stream().clone();
        let _other = current::other_code();
        let _earlier = Earlier::take(theirs.context());
        check_no_capture(&theirs, "a slice of cudarc")?;
        // This call makes the slice's stream come after the uses that cudarc has noted on other streams.
        let (address, noted) = owner.0.device_ptr_mut(&theirs);
        drop(noted);
        let recorded = theirs.record_event(None);
        let made = recorded.map_err(|error| failed("recording an event of cudarc", error))?;
        let handle = made.cu_event().expose_provenance() as u64;
        // SAFETY: the event lives until the end of this function, and belongs to this device.
        let event = unsafe { BorrowedEvent::new(device, handle) };
        if !orders_streams(theirs.context()) {
            self.record_device(event)?;
        }
        let bytes = owner.0.num_bytes() as u64;
        // SAFETY: the slice owns its memory, and no other code has a view of it. All uses of the slice come before the
        // event. cudarc initialises memory, or its user guarantees that.
        let memory = unsafe { ForeignMemory::new(device, address, bytes, owner) };
        self.adopt_tensor(memory, shape, After::Event(event))
    }
}
