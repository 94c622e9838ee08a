//! Sending held-back calls to the driver below, in the order in which they were made.

use std::borrow::Cow;

use super::Omission;
use super::bound;
use super::cursor::Outside;
use super::mode::Mode;
use super::state::State;
use super::trace::{Trace, Work};
use crate::driver::{Driver, DriverError, DriverResult, RawEvent, RawStream};

impl State {
    /// Sends the held-back calls one by one. If one of them fails, the driver is [lost](super::lost).
    pub(super) fn send_held(&mut self, below: &dyn Driver) -> DriverResult<()> {
        if !self.mode().is_some_and(Mode::holds) {
            return Ok(());
        }
        self.gather();
        // From here on the calls count as sent, even if one of them fails.
        self.set_mode(Mode::Keep);
        let (current, outside) =
            (std::mem::take(&mut self.current), std::mem::take(&mut self.outside));
        let sent = self.send_all(below, &current, &outside);
        (self.current, self.outside) = (current, outside);
        self.outside.clear();
        if let Err(error) = &sent {
            self.failed.get_or_insert_with(|| error.clone());
            self.set_mode(Mode::Send);
            if self.keeps(Omission::Lost) {
                self.lost.set(error);
            }
        }
        sent
    }

    fn send_all(
        &mut self,
        below: &dyn Driver,
        current: &Trace,
        outside: &[Outside],
    ) -> DriverResult<()> {
        // The thread that sends may not be the one that made the held-back calls, or a library may have changed its current
        // context since. So the device of the calls is bound again.
        let device = current.calls.first().map(|call| call.stream.device());
        let device = device.or(outside.first().map(|wait| wait.stream.device()));
        device.map_or(Ok(()), |device| bound::bind(below, device))?;
        let mut waits = outside.iter().peekable();
        for place in 0..=current.len() {
            while let Some(wait) = waits.next_if(|wait| wait.place as usize == place) {
                // `launched` is from the time of the wait. The event's current entry may already be about a newer record
                // that the segment has held back.
                let launch = match self.keeps(Omission::RecordedAgainSent) {
                    true => wait.launched.0,
                    false => self.launch_of(wait.event),
                };
                let sent = self.settle(below, wait.stream);
                let sent =
                    sent.and_then(|()| self.send_wait(below, wait.stream, wait.event, launch));
                sent.map_err(|error| asked_by(error, "a wait", self.node_name(wait.node)))?;
            }
            let Some(call) = current.calls.get(place) else { break };
            let (sent, what) = self.send(below, current, place);
            sent.map_err(|error| asked_by(error, &what, self.node_name(call.node)))?;
        }
        Ok(())
    }

    /// Sends the call at index `place` of a trace. Returns its result, and the call's name for an error message.
    fn send(
        &mut self,
        below: &dyn Driver,
        trace: &Trace,
        place: usize,
    ) -> (DriverResult<()>, Cow<'static, str>) {
        let call = &trace.calls[place];
        let stream = call.stream;
        if let Err(error) = self.settle(below, stream) {
            return (Err(error), "the order before a call".into());
        }
        // The reason in each `unsafe` block below: the caller of the held-back call has met the contract of its method. The
        // call's objects and memory have not changed since, because a call that could change them sends the held-back calls
        // first.
        match call.work {
            Work::Launch(kernel) => {
                let name = self.kernel_name(kernel.function);
                let Some(launch) = trace.launch(&call.work, &name) else {
                    return (Ok(()), "".into());
                };
                // SAFETY: the caller's contract, as explained above the `match`.
                let sent = unsafe { below.launch(stream, &launch) };
                let what = match &sent {
                    Ok(()) => "".into(),
                    Err(_) => format!("the launch of kernel `{name}`").into(),
                };
                (sent, what)
            }
            Work::Copy(copy) => {
                // SAFETY: the caller's contract, as explained above the `match`.
                let sent = unsafe { below.copy(stream, &trace.copies[copy as usize]) };
                (sent, "a copy".into())
            }
            Work::Fill(range, byte) => {
                // SAFETY: the caller's contract, as explained above the `match`.
                let sent = unsafe { below.fill(stream, range, byte) };
                (sent, "a fill".into())
            }
            Work::Recycle(range) => {
                // SAFETY: the caller's contract, as explained above the `match`.
                let sent = unsafe { below.observer().recycle(stream, range) };
                (sent, "memory that is used again".into())
            }
            Work::Record(event, _) => {
                // SAFETY: the caller's contract, as explained above the `match`.
                let sent = unsafe { below.record_event(event, stream) };
                self.mark_recorded(event);
                (sent, "a record".into())
            }
            Work::Library(number, _) => {
                let Some(graph) = self.captures.graph(number) else {
                    // The graph is destroyed when memory of its call is given back. The memory of a held-back call was given
                    // back before the call was sent; the contract of the call forbids that.
                    let what = format!("the graph of `{}`", self.captures.function(number));
                    let remedy = "give its memory back after the call".into();
                    return (Err(DriverError::Unavailable { what, remedy }), "a call".into());
                };
                // SAFETY: the caller's contract, as explained above the `match`. The graph is the capture of this call.
                let sent = unsafe { below.launch_graph(graph, stream) };
                let what = match &sent {
                    Ok(()) => "".into(),
                    Err(_) => format!("the call of `{}`", self.captures.function(number)).into(),
                };
                (sent, what)
            }
            Work::Wait(record) => {
                let Some(event) = trace.event_of(record) else { return (Ok(()), "".into()) };
                // SAFETY: the caller's contract, as explained above the `match`.
                let sent = unsafe { below.wait_event(stream, event) };
                (sent, "a wait".into())
            }
        }
    }

    /// Makes a stream wait for the latest record of an event. The caller has [settled](Self::settle) the stream. `launch` is
    /// the number of the launch that contains the record; 0 if the record was sent.
    pub(super) fn send_wait(
        &mut self,
        below: &dyn Driver,
        stream: RawStream,
        event: RawEvent,
        launch: u64,
    ) -> DriverResult<()> {
        match launch {
            // SAFETY: the caller of this wait has met the contract of `Driver::wait_event`.
            0 => unsafe { below.wait_event(stream, event) },
            launch
                if self.stream(stream).joined < launch
                    && self.keeps(Omission::WaitsForLaunches) =>
            {
                self.join(below, stream)
            }
            _ => Ok(()),
        }
    }

    /// The name of a node in error messages; "?" if there is none.
    pub(super) fn node_name(&self, node: u32) -> &str {
        self.nodes.get(node as usize).map_or("?", |name| name)
    }
}

/// Adds to an error's message the name of the call, and the operator that made it.
#[cold]
pub(super) fn asked_by(error: DriverError, what: &str, node: &str) -> DriverError {
    match error {
        DriverError::Call { call, device, code, name, message } => {
            let message = format!(
                "{message}; it is {what} that operator `{node}` asked for, which replay had held back"
            );
            DriverError::Call { call, device, code, name, message }
        }
        other => other,
    }
}
