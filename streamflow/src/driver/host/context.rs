//! The current context of a thread: the device that it has bound.
//!
//! CUDA has one current context per thread, over all drivers of the process. Here, a thread that has bound a device of
//! a simulator has some current context in that simulator for ever: another simulator's `bind` replaces it by one that
//! is as good for calls that need any. Only the last `bind` is the *bound device*.

use std::cell::Cell;

use super::HostDriver;
use super::refusal::call_error;
use crate::driver::{DeviceId, Driver, DriverResult, RawStream};

/// How many simulators a thread remembers that it has bound.
const REMEMBERED: usize = 16;
/// The number of no simulator.
const NONE: u64 = u64::MAX;

#[derive(Clone, Copy)]
struct Bound {
    /// The simulators of the last bindings, in a ring.
    simulators: [u64; REMEMBERED],
    next: usize,
    /// The last binding.
    simulator: u64,
    device: DeviceId,
}

const UNBOUND: Bound =
    Bound { simulators: [NONE; REMEMBERED], next: 0, simulator: NONE, device: DeviceId(0) };

thread_local! {
    static BOUND: Cell<Bound> = const { Cell::new(UNBOUND) };
}

/// Which context a call needs on its thread.
#[derive(Debug, Clone, Copy)]
pub(super) enum Needs {
    /// None: the call concerns no context, or binds one itself.
    Nothing,
    /// Any: a handle names the device.
    Any,
    /// The device's own: the call makes something in the current context, or its handle means the current device.
    Own,
}

/// Leaves the calling thread without a current context.
pub(super) fn clear() {
    BOUND.set(UNBOUND);
}

impl HostDriver {
    pub(super) fn make_current(&self, device: DeviceId) {
        let mut bound = BOUND.get();
        if (bound.simulator, bound.device) == (self.number, device) {
            return;
        }
        if !bound.simulators.contains(&self.number) {
            bound.simulators[bound.next] = self.number;
            bound.next = (bound.next + 1) % REMEMBERED;
        }
        BOUND.set(Bound { simulator: self.number, device, ..bound });
    }

    /// What a call with this stream needs: the handle of a default stream is the same for all devices of CUDA.
    pub(super) fn needs(&self, stream: RawStream) -> Needs {
        if stream == self.default_stream(stream.device()) { Needs::Own } else { Needs::Any }
    }

    /// Refuses a call whose context is not current on the calling thread.
    pub(super) fn check_context(
        &self,
        call: &'static str,
        device: DeviceId,
        needs: Needs,
    ) -> DriverResult<()> {
        let bound = BOUND.get();
        let is_last = bound.simulator == self.number;
        let message = match needs {
            Needs::Nothing => return Ok(()),
            _ if is_last && bound.device == device => return Ok(()),
            Needs::Any if is_last || bound.simulators.contains(&self.number) => return Ok(()),
            Needs::Own if is_last => {
                format!("{} is bound on this thread; bind {device} before the call", bound.device)
            }
            _ => format!("no device is bound on this thread; bind {device} before the call"),
        };
        Err(call_error(call, device, 201, "CUDA_ERROR_INVALID_CONTEXT", &message))
    }
}
