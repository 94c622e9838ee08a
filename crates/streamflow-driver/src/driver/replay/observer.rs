//! The [`Observer`] of a [`Replaying`]: facts that the runtime tells it in addition to the calls of the driver.

use super::bound;
use super::state::State;
use super::trace::Given;
use super::{Replaying, Replays};
use crate::driver::{DeviceId, Driver, DriverResult, MemoryRange, Observer, RawStream};

impl<D: Driver> Observer for Replaying<D> {
    fn next(&self) -> Option<&dyn Observer> {
        Some(self.below.observer())
    }

    fn replays(&self) -> Option<&dyn Replays> {
        Some(self)
    }

    unsafe fn hand_out(&self, stream: RawStream) {
        self.with(|state, who| {
            let what = "a stream whose handle other code gets";
            let mut ready = state.disturb(&self.below, who, what, None, false);
            if ready.is_ok() && Self::open_launch(state, stream) != 0 {
                // The caller of `hand_out` needs no CUDA context, but the wait in `settle` needs that of the stream's
                // device.
                let is_bound = bound::bind(&self.below, stream.device());
                ready = is_bound.and_then(|()| state.settle(&self.below, stream));
            }
            if let Err(error) = ready {
                state.failed.get_or_insert(error);
            }
            state.stream(stream).is_plain = false;
            state.retire(stream);
        });
        // SAFETY: the caller's contract.
        unsafe { self.below.observer().hand_out(stream) };
    }

    #[inline]
    unsafe fn recycle(&self, stream: RawStream, range: MemoryRange) -> DriverResult<()> {
        if self.is_on() {
            let is_next =
                |state: &mut State, node| state.is_next(node, stream, Given::Recycle(range));
            // SAFETY: the caller's contract.
            let send = || unsafe { self.below.observer().recycle(stream, range) };
            return self.send_or_hold(stream, is_next, Given::Recycle(range), send);
        }
        // SAFETY: the caller's contract.
        self.queued(stream, unsafe { self.below.observer().recycle(stream, range) })
    }

    unsafe fn adopt(&self, device: DeviceId, range: MemoryRange) -> DriverResult<()> {
        self.disturb(None, "memory of other code", None)?;
        // SAFETY: the caller's contract.
        unsafe { self.below.observer().adopt(device, range) }
    }

    unsafe fn disown(&self, stream: RawStream, range: MemoryRange) -> DriverResult<()> {
        self.disturb(Some(stream), "memory of other code", None)?;
        self.give_back(range)?;
        // SAFETY: the caller's contract.
        self.queued(stream, unsafe { self.below.observer().disown(stream, range) })
    }
}
