//! The current context of a thread: the device that it has bound.
//!
//! CUDA has one current context per thread, over all drivers of the process. Here, a thread that has bound a device of a
//! simulator keeps some current context in that simulator forever: another simulator's `bind` replaces it by a context
//! that serves equally for calls that need any context. Only the last `bind` sets the *bound device*.

use std::cell::{Cell, RefCell};

use super::HostDriver;
use super::refusal::call_error;
use crate::driver::current;
use crate::driver::{DeviceId, Driver, DriverResult, RawStream};

/// The last binding: the number of a simulator, and its device.
type Bound = Option<(u64, DeviceId)>;

thread_local! {
    static BOUND: Cell<Bound> = const { Cell::new(None) };
    /// The simulators that the thread has bound.
    static SIMULATORS: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
}

/// The context that a call needs on its thread.
#[derive(Debug, Clone, Copy)]
pub(super) enum Needs {
    /// No context: the call uses no context, or binds one itself.
    Nothing,
    /// Any context: a handle names the device.
    Any,
    /// The device's own context: the call makes an object in the current context, or its handle means the current device.
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
        // While a thread ends, its list may be gone. Then all simulators count as bound.
        let _noted = SIMULATORS.try_with(|simulators| {
            let mut simulators = simulators.borrow_mut();
            if !simulators.contains(&self.number) {
                simulators.push(self.number);
            }
        });
    }

    /// The context that a call with this stream needs: on CUDA, all devices share one handle for their default streams.
    pub(super) fn needs(&self, stream: RawStream) -> Needs {
        if stream == self.default_stream(stream.device()) { Needs::Own } else { Needs::Any }
    }

    /// Refuses a call if the context that it needs is not current on the calling thread.
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
