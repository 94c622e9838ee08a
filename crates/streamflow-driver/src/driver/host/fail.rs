//! Bodies that fail: a kernel's panic makes its device unusable, and the next call returns the failure of a library
//! function.

use super::failure::Failure;
use super::memory::{POISON_ALLOCATED, poison};
use super::queue::Op;
use super::sim::Sim;
use crate::driver::error::{FIND_LAUNCH, LOST};
use crate::driver::{DeviceId, DriverError, DriverResult, Sticky};

impl Sim {
    /// Notes that a stream's body has failed.
    #[cold]
    pub(super) fn mark_failed(&mut self, index: usize, failure: Failure) {
        let device = self.streams[index].device;
        let touched = self.streams[index].running_touches as usize;
        match failure {
            Failure::Lost(cause) => self.fail(device, cause),
            Failure::Function(error) => {
                for range in self.streams[index].touches.iter().take(touched) {
                    let Some(range) = range.written() else { continue };
                    // SAFETY: the memory is allocated, and no other code touches it while these accesses are the stream's,
                    // by the contract of `Libraries::call_library` and `Sim::obstacle`.
                    unsafe { poison(range.address, range.bytes, POISON_ALLOCATED) };
                }
                self.devices[device.index()].failures.push_back(error);
            }
        }
    }

    /// Returns an error of a library function that no call has returned yet. Each error is returned once.
    pub(super) fn deliver(&mut self, device: DeviceId) -> DriverResult<()> {
        // A call under a lock of the caller may be a held-back call: replay sends it during another call, which does not
        // return this error.
        if crate::lock::is_held() {
            return Ok(());
        }
        self.devices[device.index()].failures.pop_front().map_or(Ok(()), Err)
    }

    /// Makes a device unusable. The device's queued work is dropped and counts as complete.
    pub(super) fn fail(&mut self, device: DeviceId, failure: Sticky) {
        self.devices[device.index()].failed.get_or_insert(failure);
        for index in 0..self.streams.len() {
            let stream = &mut self.streams[index];
            if stream.device == device && !stream.vacant {
                self.pending -= stream.queue.len();
                for queued in stream.queue.drain(..) {
                    // The body may be a value of the user's, so it is dropped without the lock.
                    if let Op::Library { body, .. } = queued.op {
                        self.dropped.push(body);
                    }
                }
                stream.drop_queued();
                if stream.busy.is_none() {
                    stream.done = stream.submitted;
                }
                self.vacate(index);
            }
        }
    }

    /// Refuses a call on a failed device: the first call gets the error itself, later calls get [`DriverError::Sticky`].
    pub(super) fn check(&mut self, device: DeviceId, call: &'static str) -> DriverResult<()> {
        let state = &mut self.devices[device.index()];
        let Some(cause) = &mut state.failed else { return Ok(()) };
        if state.reported {
            return Err(DriverError::Sticky { call, cause: cause.clone() });
        }
        state.reported = true;
        cause.call = call;
        Err(DriverError::Call {
            call,
            device,
            code: cause.code,
            name: cause.name.clone(),
            message: format!("{}; {LOST}{FIND_LAUNCH}", cause.message),
        })
    }

    /// Refuses a call on a device if an earlier call has returned the device's failure.
    pub(super) fn refuse_lost(&self, device: DeviceId, call: &'static str) -> DriverResult<()> {
        let state = &self.devices[device.index()];
        match &state.failed {
            Some(cause) if state.reported => {
                Err(DriverError::Sticky { call, cause: cause.clone() })
            }
            _ => Ok(()),
        }
    }

    /// Returns the error of the first failed device, among those whose error a call has already returned.
    pub(super) fn reported_error(&self) -> Option<&Sticky> {
        self.devices.iter().filter(|device| device.reported).find_map(|it| it.failed.as_ref())
    }
}
