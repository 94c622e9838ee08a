//! Exchange of memory with [cudarc], the crate that candle and others are built on. An exchange copies nothing, and does
//! not block the host.
//!
//! - [`CudaStream::read_cudarc`] and [`write_cudarc`](CudaStream::write_cudarc) lend a tensor as a view for one claim:
//!   cudarc's work with the view is a use, like a launch.
//! - [`Tensor::into_cudarc`] lends a tensor as a slice for as long as cudarc needs it.
//! - [`Platform::adopt_cudarc`](crate::Platform::adopt_cudarc) takes a slice over, as a tensor.
//!
//! # Order
//! cudarc's stream comes after the uses of the tensor so far, and later uses of the tensor come after cudarc's work on that
//! stream. Other streams of cudarc are ordered by cudarc's own events, if its context tracks events: these streams come
//! after the stream that the view was made for. cudarc keeps a single event for all readers of a slice, so the order after
//! the slower of two readers on two other streams is lost; queue each read on the stream of the view, or order the
//! streams by [`CudaStream::after_cudarc`](crate::CudaStream::after_cudarc).
//!
//! A context tracks no events while it has no stream that was made by its `CudaContext::new_stream` or by `fork`: before the
//! first such stream is made, and after the last one is dropped. In that time, work of streamflow that follows a claim or an
//! adoption comes after all work that the device has. A program avoids this by keeping a stream of the context. After
//! `disable_event_tracking`, streamflow orders only the stream of the view or slice, and the program orders other streams.
//!
//! # Captures
//! Each call returns an error for a stream that is being captured into a graph. The work of such a stream would be executed
//! with each launch of the graph, without an order with streamflow's work. If a slice was adopted before the capture, it is
//! freed when the capture has ended.
//!
//! All objects `CudaContext` stand for the primary context of their device. A program makes its own object by
//! `CudaContext::new`. This object is not the one of streamflow, and has its own switch for tracking.

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

/// The name of a view in error texts.
const VIEW: &str = "a tensor for cudarc";

impl CudaStream {
    /// Calls `queue` with memory as a view of cudarc. `queue` may queue work of cudarc on `theirs` that reads the view. That
    /// work is a use of the memory on this stream: it comes after the last write, and later writes and the free come
    /// after it.
    ///
    /// If `theirs` is another stream than this one, `theirs` waits for this stream before `queue` is called, and this stream
    /// waits for `theirs` afterwards, each by an event. So `theirs` may be any stream of cudarc, also a default stream. The
    /// per-thread default stream is that of the calling thread.
    ///
    /// `queue` may use the view on other streams of the same context object: cudarc orders these streams by its events, except
    /// in two cases. First, cudarc notes no use on a stream of another context object that tracks no events. That is
    /// a race, as it is with a slice of cudarc's own: use one context object for all streams, and a per-thread default
    /// stream only on the calling thread. Second, cudarc waits for no noted use after the last stream of `new_stream` is
    /// dropped. In that case this stream waits for all work that the device has; that needs a driver of CUDA 12.5.
    ///
    /// # Errors
    /// [`Error::Exchange`] for a stream of another device or of a context that is not the primary one, for a stream that
    /// is being captured, for an error that cudarc's context has stored, and on the simulator; otherwise as for
    /// [`read_raw`](Self::read_raw). An error of an earlier call is found before `queue` is called. Unlike `read_raw`,
    /// this method may also fail after `queue` has returned. In that case the host has waited for cudarc's work on the device,
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

    /// Calls `queue` with memory that this stream has claimed, as a slice of cudarc.
    fn claimed<T, R>(
        &self,
        address: u64,
        len: usize,
        theirs: &Arc<Theirs>,
        queue: impl FnOnce(&mut CudaSlice<T>) -> R,
    ) -> Result<R> {
        check_context(self.table(), self.device(), theirs.context(), VIEW)?;
        // If cudarc's context has stored an error of an earlier call, the claim fails before any work is queued.
        kept_error(theirs)?;
        self.before_checked(theirs)?;
        // The guard is declared before the slice, so that it is dropped after the slice if `queue` panics.
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

/// A guard whose drop makes a stream of streamflow come after a stream of cudarc. The drop does so even if the code that
/// queues work of cudarc panics.
struct Joining<'a> {
    /// The stream of streamflow. `None` after the guard has made this stream come after `theirs`.
    ours: Option<&'a CudaStream>,
    theirs: &'a Theirs,
    /// Whether, when the view was made, cudarc or the program was responsible for the order of uses on other streams.
    is_ordered: bool,
}

impl Joining<'_> {
    fn join(&mut self) -> Result<()> {
        let Some(ours) = self.ours.take() else { return Ok(()) };
        // This call also returns an error that cudarc's context has stored, for example for a wait that could not be queued.
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
    /// Creates a slice of memory that `theirs` may use. Uses of the slice on `theirs` come after the work that is queued
    /// there. If the context tracks events, uses of the slice on cudarc's other streams also come after that work.
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
        // Dropping this guard makes cudarc record a write of the slice on `theirs`.
        drop(slice.0.device_ptr_mut(theirs).1);
        Ok(slice)
    }
}

impl<T> Drop for Unowned<T> {
    /// Leaks the slice, so that cudarc does not free the memory. This makes the slice's stream come after all uses that
    /// cudarc has noted.
    fn drop(&mut self) {
        let _other = current::other_code();
        // SAFETY: the value is dropped, so nothing uses the field again.
        unsafe { ManuallyDrop::take(&mut self.0) }.leak();
    }
}

/// The error of an earlier call, taken out of a context of cudarc that has stored it. With a stored error, each call that
/// makes the context current would only return this error. The drop stores the error in the context again, for the program.
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

/// Returns the error that cudarc has stored in the context of `theirs`, if any. cudarc stores an error that it can return to
/// no caller, for example the error of a wait in a drop.
fn kept_error(theirs: &Theirs) -> Result<()> {
    theirs.context().check_err().map_err(|error| failed("ordering work of cudarc", error))
}

/// A tensor that is lent to cudarc until the `LentSlice` is dropped. Made by [`Tensor::into_cudarc`]; derefs to a
/// `CudaSlice`.
#[must_use = "dropping it ends the loan"]
pub struct LentSlice<T: Element> {
    slice: Unowned<T>,
    /// The value that gives the memory back to its pool. `None` after the memory was given back.
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
    /// Gives the memory back to its pool. The pool uses the memory again after all work that the device has at that time.
    /// The drop does not wait, and may run on any thread.
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
    /// older than CUDA 12.5, which can't take the memory back. After an error the tensor is dropped. An error of an earlier
    /// call that cudarc's context has stored is no reason to fail, and stays stored for the program.
    #[track_caller]
    pub fn into_cudarc(self, stream: &CudaStream, theirs: &Arc<Theirs>) -> Result<LentSlice<T>> {
        let block = self.owned_block();
        block.check(stream, VIEW)?;
        block.pool().check_take_back()?;
        check_context(&block.pool().table, stream.device(), theirs.context(), VIEW)?;
        let _earlier = Earlier::take(theirs.context());
        stream.timeline().ready()?;
        block.order_written(stream, AccessMode::Write)?;
        let (range, mode) = (block.range(), AccessMode::Write);
        block.pool().table.observe(&Note::ForeignAccess {
            stream: stream.raw(),
            range,
            rows: None,
            mode,
            location: std::panic::Location::caller(),
        });
        stream.before_checked(theirs)?;
        let (address, len) = (range.address, self.len());
        // SAFETY: the tensor keeps the memory allocated until the slice is dropped, and then until the device has executed
        // the work that uses the slice.
        let slice = unsafe { Unowned::new(theirs, address, len) }?;
        let mut lent = LentSlice { slice, returner: None };
        kept_error(theirs)?;
        lent.returner = Some(lend(self)?);
        Ok(lent)
    }
}

/// The owner of an adopted slice of cudarc. The thread that drops this owner has no current context.
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
        // cudarc frees a slice without making the context current, and stores the error of a failed free in the context. So
        // this code makes the context current, and then reads the stored error.
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

/// Whether memory can't be freed on this stream because the stream is being captured, or because its capture has failed.
fn waits_for_capture(theirs: &Theirs) -> bool {
    is_captured(theirs).unwrap_or_else(|error| CAPTURE.contains(&(error.0 as i32)))
}

/// The task of freeing a slice when the capture of its stream has ended.
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
    /// Records `event` after all work that the device has, the work of other code included.
    fn record_device(&self, event: BorrowedEvent<'_>) -> Result<()> {
        let timeline = self.table.take(self.device(), StreamOptions::default())?;
        let recorded = timeline.wait_for_device().and_then(|()| timeline.record_borrowed(event));
        self.table.return_stream(timeline);
        Ok(recorded?)
    }

    /// Adopts a slice of cudarc that has memory of this pool's device.
    #[track_caller]
    pub(crate) fn adopt_cudarc<T: Element>(
        self: &Arc<Self>,
        device: DeviceId,
        slice: CudaSlice<T>,
        shape: &Shape,
    ) -> Result<Tensor<T>> {
        let mut owner = Owner(ManuallyDrop::new(slice));
        // The reaper thread is started first, because it frees a slice that is refused while its stream is captured.
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
