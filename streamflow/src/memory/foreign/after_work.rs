//! The type [`AfterWork`]: an owner of a value of other code that work on a stream needs until the work has executed.

use std::ffi::c_void;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use super::bound::Bound;
use super::reaper;
use crate::driver::{HostFunction, report_in_drop};
use crate::error::Result;
use crate::memory::border::Owner;
use crate::memory::border::counts::{self, Count};
use crate::stream::{CudaStream, Timeline};

/// An owner of a value that work on a stream uses, for example of a library's handle. The value's drop may call CUDA or
/// block. A thread of streamflow drops the value with the stream's device current, after all work that was queued on the
/// stream before the drop of the `AfterWork`. Until then the value counts as
/// [adopted](crate::memory::ForeignCounts::adopted).
#[derive(Debug)]
pub struct AfterWork<H: Send + 'static> {
    timeline: Arc<Timeline>,
    /// The value. `None` only while the `AfterWork` is being dropped.
    value: Option<H>,
}

impl<H: Send + 'static> AfterWork<H> {
    /// Wraps a value that a library has just made. Makes the stream wait for the work that the library has queued on the
    /// device's default stream to make the value. cuFFT, for example, writes the tables of a plan on the default stream,
    /// whichever stream the plan is for, and a stream of streamflow does not wait for the default stream by itself.
    ///
    /// # Errors
    /// [`Error::Exchange`](crate::Error::Exchange), when the system has no thread for the reaper; the driver's.
    pub fn new(stream: &CudaStream, value: H) -> Result<Self> {
        stream.wait_for_default()?;
        reaper::start()?;
        counts::add(Count::Adopted);
        Ok(Self { timeline: stream.timeline().clone(), value: Some(value) })
    }
}

impl<H: Send + 'static> Deref for AfterWork<H> {
    type Target = H;

    fn deref(&self) -> &H {
        let Some(value) = &self.value else { unreachable!("it is taken in the drop") };
        value
    }
}

impl<H: Send + 'static> DerefMut for AfterWork<H> {
    fn deref_mut(&mut self) -> &mut H {
        let Some(value) = &mut self.value else { unreachable!("it is taken in the drop") };
        value
    }
}

impl<H: Send + 'static> Drop for AfterWork<H> {
    fn drop(&mut self) {
        let Some(value) = self.value.take() else { return };
        let timeline = &self.timeline;
        let owner = Bound::owner(value, timeline);
        if timeline.driver().sticky_error().is_some() {
            return reaper::leak_owner(owner);
        }
        let data: *mut Owner = Box::into_raw(Box::new(owner));
        let function = HostFunction { call: complete, data: data.cast() };
        let queued = timeline.bind().and_then(|()| {
            // SAFETY: the timeline owns its stream. Only this call of `complete` gets the data. `complete` makes no CUDA
            // call and does not unwind.
            unsafe { timeline.driver().launch_host_function(timeline.raw(), function) }
        });
        if let Err(error) = queued {
            report_in_drop("dropping a library's handle after its work", Err(error));
            // SAFETY: the pointer came from `into_raw`. The host function that would have owned the data will not be called.
            reaper::leak_owner(*unsafe { Box::from_raw(data) });
        }
    }
}

unsafe extern "C" fn complete(data: *mut c_void) {
    // SAFETY: the drop of an `AfterWork` made `data`, and passed it to this call alone.
    reaper::add(reaper::giving_back(*unsafe { Box::from_raw(data.cast::<Owner>()) }));
}
