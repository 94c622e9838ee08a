//! Devices that fail.

use super::sim::Sim;
use crate::driver::error::{FIND_LAUNCH, LOST};
use crate::driver::{DeviceId, DriverError, DriverResult, Sticky};

impl Sim {
    /// Makes a device unusable. Its queued work is dropped and counts as complete.
    pub(super) fn fail(&mut self, device: DeviceId, failure: Sticky) {
        self.devices[device.index()].failed.get_or_insert(failure);
        for index in 0..self.streams.len() {
            let stream = &mut self.streams[index];
            if stream.device == device && !stream.vacant {
                self.pending -= stream.queue.len();
                stream.queue.clear();
                stream.params.clear();
                if stream.busy.is_none() {
                    stream.done = stream.submitted;
                }
                self.vacate(index);
            }
        }
    }

    /// Fails on a failed device: the first call gets the error itself, later ones get [`DriverError::Sticky`].
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

    /// Refuses a call on a device whose failure a call has returned.
    pub(super) fn refuse_lost(&self, device: DeviceId, call: &'static str) -> DriverResult<()> {
        let state = &self.devices[device.index()];
        match &state.failed {
            Some(cause) if state.reported => {
                Err(DriverError::Sticky { call, cause: cause.clone() })
            }
            _ => Ok(()),
        }
    }

    /// The error of the first device whose failure a call has returned.
    pub(super) fn reported_error(&self) -> Option<&Sticky> {
        self.devices.iter().filter(|device| device.reported).find_map(|it| it.failed.as_ref())
    }
}
