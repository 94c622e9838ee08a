//! The current context of each thread, as the device that the thread has bound.
//!
//! CUDA has one current context per thread, for all drivers of the process. Here, a thread that has once bound a device of a
//! simulator always has a current context for that simulator. A `bind` of another simulator replaces that context by another
//! one, and this one serves equally for calls that need any context. Only the latest `bind` decides which device is bound.

use std::cell::{Cell, RefCell};

use super::HostDriver;
use super::refusal::call_error;
use crate::driver::current;
use crate::driver::{DeviceId, Driver, DriverResult, RawStream};

/// The latest `bind` of a thread: the number of the simulator, and the device.
type Bound = Option<(u64, DeviceId)>;

thread_local! {
    static BOUND: Cell<Bound> = const { Cell::new(None) };
    /// The numbers of all simulators that have a device which the thread has bound at least once.
    static SIMULATORS: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
}

/// The context that a call needs on its thread.
#[derive(Debug, Clone, Copy)]
pub(super) enum Needs {
    /// No context: the call uses none, or makes its device's context current itself.
    Nothing,
    /// Any context: the call has a handle, and that names the device.
    Any,
    /// The context of the device: the call makes an object in the current context, or has a default stream's handle, and
    /// that means the current device.
    Own,
}

/// Leaves the calling thread without a current context.
pub(super) fn clear() {
    BOUND.set(None);
    let _gone = SIMULATORS.try_with(|simulators| simulators.borrow_mut().clear());
}

impl HostDriver {
    pub(super) fn make_current(&self, device: DeviceId) {
        let before = BOUND.get();
        BOUND.set(Some((self.number, device)));
        if before != Some((self.number, device)) {
            current::doubt();
        }
        if before.is_some_and(|(simulator, _)| simulator == self.number) {
            return;
        }
        // At the end of a thread, its thread-local list may be dropped already. All simulators then count as bound.
        let _noted = SIMULATORS.try_with(|simulators| {
            let mut simulators = simulators.borrow_mut();
            if !simulators.contains(&self.number) {
                simulators.push(self.number);
            }
        });
    }

    /// The context that a call with this stream needs. On CUDA, the default streams of all devices have the same handle, so
    /// a call on one needs the context of its device.
    pub(super) fn needs(&self, stream: RawStream) -> Needs {
        if stream == self.default_stream(stream.device()) { Needs::Own } else { Needs::Any }
    }

    /// Refuses a call if the calling thread does not have the context that the call needs.
    pub(super) fn check_context(
        &self,
        call: &'static str,
        device: DeviceId,
        needs: Needs,
    ) -> DriverResult<()> {
        let last = BOUND.get().filter(|(simulator, _)| *simulator == self.number);
        let is_remembered = || {
            let found = SIMULATORS.try_with(|bound| bound.borrow().contains(&self.number));
            found.unwrap_or(true)
        };
        let message = match (needs, last) {
            (Needs::Nothing, _) => return Ok(()),
            (_, Some((_, bound))) if bound == device => return Ok(()),
            (Needs::Any, Some(_)) => return Ok(()),
            (Needs::Any, None) if is_remembered() => return Ok(()),
            (Needs::Own, Some((_, bound))) => {
                format!("{bound} is bound on this thread; bind {device} before the call")
            }
            _ => format!("no device is bound on this thread; bind {device} before the call"),
        };
        Err(call_error(call, device, 201, "CUDA_ERROR_INVALID_CONTEXT", &message))
    }
}
