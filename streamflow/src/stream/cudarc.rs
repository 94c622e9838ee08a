//! Streams of cudarc together with those of streamflow: events order work between them in both directions, and a stream of
//! streamflow can be passed to cudarc's calls.

use std::fmt;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::sync::Arc;

use cudarc::driver::sys::{
    CUevent_wait_flags as WaitFlags, CUstreamCaptureStatus as CaptureStatus,
};
use cudarc::driver::{CudaContext, CudaStream as Theirs, DriverError as Failed, result};

use super::{CudaStream, StreamTable, Timeline, lent};
use crate::driver::{BorrowedEvent, DeviceId, DriverError, current};
use crate::error::{Error, Result};

/// A stream of streamflow as a stream of cudarc, made by [`CudaStream::to_cudarc`].
///
/// Dropping a `CudarcStream` does not destroy the CUDA stream. A slice that cudarc allocates on this stream has a clone of the
/// `Arc`, and frees its memory on the stream. So the stream and its driver live at least until the last clone is dropped. They
/// are freed by the next drop of a platform, or of another `CudarcStream` that has clones.
///
/// After memory was allocated or freed on a CUDA stream, each record and each wait on that stream costs more, for good. So
/// allocate cudarc's slices on a stream that cudarc has made, and use a `CudarcStream` for kernels and for handles of libraries.
#[must_use = "it stands for the stream only as long as it lives"]
pub struct CudarcStream<'s> {
    /// The stream as cudarc's type. The drop takes it out.
    theirs: ManuallyDrop<Arc<Theirs>>,
    timeline: Arc<Timeline>,
    _ours: PhantomData<&'s CudaStream>,
}

impl Deref for CudarcStream<'_> {
    type Target = Arc<Theirs>;

    fn deref(&self) -> &Arc<Theirs> {
        &self.theirs
    }
}

impl fmt::Debug for CudarcStream<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CudarcStream").field(&self.timeline.raw()).finish()
    }
}

impl Drop for CudarcStream<'_> {
    fn drop(&mut self) {
        // SAFETY: the field is taken once, since this is the drop of the value, and nothing uses the field afterwards.
        let mut theirs = unsafe { ManuallyDrop::take(&mut self.theirs) };
        if Arc::get_mut(&mut theirs).is_none() {
            return lent::keep(theirs, self.timeline.clone());
        }
        // Dropping the last owner of a context calls CUDA, which may make another device current.
        drop(theirs);
        current::doubt();
    }
}

impl CudaStream {
    /// Returns this stream for calls of cudarc, in a CUDA context of the program. Slices and kernels of that context can be used
    /// on the returned stream.
    ///
    /// # Errors
    /// [`Error::Exchange`] for an external stream, because its owner may destroy it while cudarc uses it; for a context that is
    /// not the primary context of the stream's device; and on the simulator. Errors of the driver.
    ///
    /// # Safety
    /// The conditions of [`CudaContext::wrap_borrowed_stream`] apply, except for the lifetime. The caller orders work that uses
    /// slices of cudarc, if that work is queued on this stream and on other streams. While the context tracks events, cudarc
    /// makes that order: from the first call of [`CudaContext::new_stream`] until the last such stream is dropped. Work that is
    /// queued on a clone after the returned value was dropped belongs to no tick.
    pub unsafe fn to_cudarc<'s>(&'s self, context: &Arc<CudaContext>) -> Result<CudarcStream<'s>> {
        check_context(&self.table, self.device(), context, "a stream for cudarc")?;
        if self.timeline.is_foreign() {
            return Err(Error::Exchange {
                what: "an external stream can't be a stream for cudarc".to_owned(),
                reason: "its owner may destroy it while cudarc has it".to_owned(),
                remedy: "give cudarc the stream itself, or one of a pool of streamflow".to_owned(),
            });
        }
        let handle = self.raw().handle();
        // SAFETY: the stream is not external, so the timeline owns it, and each clone of the result keeps the timeline alive. The
        // caller guarantees the other conditions of `wrap_borrowed_stream`.
        let theirs = unsafe { context.wrap_borrowed_stream(pointer_to(handle)) };
        Ok(CudarcStream {
            theirs: ManuallyDrop::new(theirs),
            timeline: self.timeline.clone(),
            _ours: PhantomData,
        })
    }

    /// Makes work that is queued on `self` from now on come after all work that is queued on a stream of cudarc. Does not block
    /// the host. If `theirs` is a per-thread default stream, the calling thread's is meant.
    ///
    /// # Errors
    /// [`Error::Exchange`] for a stream of another device, of a context that is not the primary one, or that is being captured;
    /// for an earlier error that cudarc has stored; and on the simulator. Errors of the driver.
    pub fn after_cudarc(&self, theirs: &Theirs) -> Result<()> {
        check_context(&self.table, self.device(), theirs.context(), STREAM)?;
        self.after_checked(theirs).map_err(|error| self.explained(theirs, error))
    }

    /// Does the same as [`after_cudarc`](Self::after_cudarc), without checking the context.
    pub(crate) fn after_checked(&self, theirs: &Theirs) -> Result<()> {
        let _other = current::other_code();
        check_no_capture(theirs, STREAM)?;
        if self.is_same(theirs) {
            return Ok(());
        }
        self.timeline.with_event(|event| self.wait_for_event(recorded(theirs, event)?))
    }

    /// Returns the error of the device, if it has one, and `error` if not. The driver learns of a device error by this query: an
    /// error code that only cudarc has got would stop no graph. While `theirs` is being captured, no query is made: CUDA answers
    /// no query of another stream during a capture, and the query would end the capture.
    #[cold]
    pub(crate) fn explained(&self, theirs: &Theirs, error: Error) -> Error {
        if is_captured(theirs).unwrap_or(false) {
            return error;
        }
        self.timeline.query().map_or_else(Into::into, |_| error)
    }

    /// Makes work that cudarc queues on `theirs` from now on come after all work that is queued on `self`. In all other respects
    /// the same as [`after_cudarc`](Self::after_cudarc).
    ///
    /// # Errors
    /// The same errors as for [`after_cudarc`](Self::after_cudarc).
    pub fn before_cudarc(&self, theirs: &Theirs) -> Result<()> {
        check_context(&self.table, self.device(), theirs.context(), STREAM)?;
        self.before_checked(theirs).map_err(|error| self.explained(theirs, error))
    }

    /// Does the same as [`before_cudarc`](Self::before_cudarc), without checking the context.
    pub(crate) fn before_checked(&self, theirs: &Theirs) -> Result<()> {
        let _other = current::other_code();
        // This check also makes the context of `theirs` current.
        check_no_capture(theirs, STREAM)?;
        if self.is_same(theirs) {
            return Ok(());
        }
        self.timeline.with_event(|event| {
            self.record_event(event)?;
            let flags = WaitFlags::CU_EVENT_WAIT_DEFAULT;
            let event = pointer_to(event.raw().handle());
            // SAFETY: the stream and the event are borrowed here, so both are alive.
            let waits = unsafe { result::stream::wait_event(theirs.cu_stream(), event, flags) };
            waits.map_err(|error| failed("a wait of a stream of cudarc", error))
        })
    }

    pub(crate) fn is_same(&self, theirs: &Theirs) -> bool {
        handle_of(theirs) == self.timeline.raw().handle()
    }
}

/// Records an event on a stream of cudarc. The caller has made the stream's context current.
fn recorded<'e>(theirs: &Theirs, event: BorrowedEvent<'e>) -> Result<BorrowedEvent<'e>> {
    // SAFETY: the stream and the event are borrowed here, so both are alive.
    let recorded =
        unsafe { result::event::record(pointer_to(event.raw().handle()), theirs.cu_stream()) };
    recorded.map_err(|error| failed("recording an event on a stream of cudarc", error))?;
    Ok(event)
}

/// Whether somebody orders the uses of one slice on several streams of a context. While the context has streams other than the
/// default stream, cudarc orders them. If the program has turned off cudarc's event tracking, the program must do so.
pub(crate) fn orders_streams(context: &CudaContext) -> bool {
    context.is_in_multi_stream_mode() || !context.is_event_tracking()
}

/// The name of a stream of cudarc in error texts.
const STREAM: &str = "a stream of cudarc";

/// Returns an error unless `context` is the context in which streamflow has its streams and memory of `device`.
///
/// # Errors
/// [`Error::Exchange`]; the driver's sticky error.
pub(crate) fn check_context(
    table: &StreamTable,
    device: DeviceId,
    context: &CudaContext,
    what: &str,
) -> Result<()> {
    let refused = |reason: String, remedy: &str| Error::Exchange {
        what: format!("{what} can't be used on {device}"),
        reason,
        remedy: remedy.to_owned(),
    };
    if let Some(cause) = table.driver().sticky_error() {
        return Err(DriverError::Sticky { call: "an exchange with cudarc", cause }.into());
    }
    let Some(ordinal) = table.ordinal(device) else {
        return Err(refused(
            "it is no CUDA device".to_owned(),
            "make the platform by `Platform::cuda`; on the simulator, exchange host memory",
        ));
    };
    if !context.is_primary() {
        return Err(refused(
            "its context is not the primary one of a device".to_owned(),
            "make the context by `CudaContext::new`",
        ));
    }
    if context.ordinal() != ordinal as usize {
        return Err(refused(
            format!(
                "it is of CUDA device {}, and {device} of the platform is CUDA device {ordinal}",
                context.ordinal()
            ),
            "copy it to that device by cudarc, or make the platform with its device",
        ));
    }
    Ok(())
}

/// Whether a stream of cudarc is being captured into a CUDA graph.
///
/// # Errors
/// The error that cudarc returns.
pub(crate) fn is_captured(theirs: &Theirs) -> std::result::Result<bool, Failed> {
    Ok(theirs.capture_status()? != CaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE)
}

/// Returns an error for a stream that is being captured. A wait for an event from outside of the capture would invalidate the
/// capture, and a wait for an event from inside would make streamflow's stream part of the capture.
///
/// # Errors
/// [`Error::Exchange`].
pub(crate) fn check_no_capture(theirs: &Theirs, what: &str) -> Result<()> {
    match is_captured(theirs) {
        Ok(false) => Ok(()),
        Ok(true) => Err(Error::Exchange {
            what: format!("{what} can't be ordered with work of streamflow"),
            reason: "the stream is being captured".to_owned(),
            remedy: "end the capture before, or use a stream that is not captured".to_owned(),
        }),
        Err(error) => Err(failed("asking a stream of cudarc for its capture", error)),
    }
}

/// Makes the error for a failed call of cudarc. The call may also have returned the error of an earlier call.
#[cold]
pub(crate) fn failed(what: &str, error: Failed) -> Error {
    Error::Exchange {
        what: format!("{what} has failed"),
        reason: format!("cudarc returned {:?}", error.0),
        remedy: "cudarc returns an error of an earlier call, too: `CudaContext::check_err` after each drop finds that one"
            .to_owned(),
    }
}

/// Returns the CUDA handle of a stream of cudarc.
pub(crate) fn handle_of(theirs: &Theirs) -> u64 {
    theirs.cu_stream().expose_provenance() as u64
}

/// Converts the handle of a stream or an event to CUDA's pointer type.
fn pointer_to<T>(handle: u64) -> *mut T {
    std::ptr::with_exposed_provenance_mut(handle as usize)
}
