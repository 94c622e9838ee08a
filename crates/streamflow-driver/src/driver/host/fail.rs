//! The effects of a body that fails. A kernel's panic makes its device unusable. The error of a library function is returned
//! by a later call, and the device goes on.

use super::failure::Failure;
use super::memory::{POISON_ALLOCATED, poison};
use super::queue::Op;
use super::sim::Sim;
use crate::driver::error::{FIND_LAUNCH, LOST};
use crate::driver::{DeviceId, DriverError, DriverResult, Sticky};

impl Sim {
    /// Applies the failure of the body that was running on stream `index`.
    #[cold]
    pub(super) fn mark_failed(&mut self, index: usize, failure: Failure) {
        let device = self.streams[index].device;
        let touched = self.streams[index].running_touches as usize;
        match failure {
            Failure::Lost(cause) => self.fail(device, cause),
            Failure::Function(error) => {
                for range in self.streams[index].touches.iter().take(touched) {
                    let Some(range) = range.written() else { continue };
                    // SAFETY: the memory is allocated, by the contract of `Libraries::call_library`. No other code touches
                    // it while these accesses are in the stream's `touches`: `Sim::obstacle` holds back such operations.
                    unsafe { poison(range.address, range.bytes, POISON_ALLOCATED) };
                }
                self.devices[device.index()].failures.push_back(error);
            }
        }
    }

    /// Returns the oldest error of a library function on this device that no call has returned yet. Each error is returned
    /// once.
    pub(super) fn deliver(&mut self, device: DeviceId) -> DriverResult<()> {
        // If the caller holds a lock, this call may be a held-back call that replay sends during a call of the program, and
        // the program's call would not return the error. So the error stays for a later call.
        if crate::lock::is_held() {
            return Ok(());
        }
        self.devices[device.index()].failures.pop_front().map_or(Ok(()), Err)
    }

    /// Makes a device unusable, because of `failure`. The device's queued work is dropped and counts as complete.
    pub(super) fn fail(&mut self, device: DeviceId, failure: Sticky) {
        self.devices[device.index()].failed.get_or_insert(failure);
        for index in 0..self.streams.len() {
            let stream = &mut self.streams[index];
            if stream.device == device && !stream.vacant {
                self.pending -= stream.queue.len();
                for queued in stream.queue.drain(..) {
                    // A library's body may own a value of the user's, with a `drop` of its own, so it is dropped later,
                    // without the lock.
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

    /// Refuses a call on an unusable device. The first such call returns the failure itself, later calls return
    /// [`DriverError::Sticky`].
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

    /// Refuses a call on an unusable device if an earlier call has already returned the device's failure.
    pub(super) fn refuse_lost(&self, device: DeviceId, call: &'static str) -> DriverResult<()> {
        let state = &self.devices[device.index()];
        match &state.failed {
            Some(cause) if state.reported => {
                Err(DriverError::Sticky { call, cause: cause.clone() })
            }
            _ => Ok(()),
        }
    }

    /// Returns the failure of the first unusable device whose failure was already returned by a call.
    pub(super) fn reported_error(&self) -> Option<&Sticky> {
        self.devices.iter().filter(|device| device.reported).find_map(|it| it.failed.as_ref())
    }
}
