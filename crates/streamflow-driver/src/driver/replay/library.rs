//! Calls of libraries in a pass: whether such a call is captured, and whether it is held back.

use super::captures::UNKNOWN;
use super::mode::Mode;
use super::state::State;
use super::trace::{Given, Trace, Work};
use super::{Omission, Replaying, bound};
use crate::driver::graph::{GraphNode, GraphWork};
use crate::driver::{
    Driver, DriverError, DriverResult, LibraryCall, LibraryError, RawGraph, RawStream,
    report_unless_refused,
};
use crate::log;

/// The reason, in the report, why a pass with such a call is not replayed.
const NOT_CAPTURED: &str = "a call of a library that could not be captured; the log has the error";

/// How a library's call is treated.
enum Due {
    /// The call with this number is compared with traces by the number, and held back or sent.
    Take(u64),
    /// As `Take`, but the call is captured first: it comes a second time, or each call is captured at once (`is_eager`).
    Capture(u64),
    /// The call is sent, since its captures have failed too often.
    Send,
}

impl<D: Driver> Replaying<D> {
    /// Holds a library's call back or sends it, on the slow path. `send` calls the library.
    ///
    /// The library is called without the state's lock, also for a capture, since its host body may be a user's code.
    ///
    /// # Safety
    /// As for [`Libraries::call_library`](crate::driver::Libraries::call_library).
    #[cold]
    #[inline(never)]
    pub(super) unsafe fn library_or_hold(
        &self,
        stream: RawStream,
        call: &LibraryCall<'_>,
        send: impl FnOnce() -> DriverResult<()>,
    ) -> DriverResult<()> {
        let look =
            |state: &mut State, (thread, _)| state.library(&self.below, thread, stream, call);
        let (number, graph) = match self.with(look).unwrap_or(Due::Take(UNKNOWN)) {
            Due::Take(number) => (number, None),
            // SAFETY: the caller's contract.
            Due::Capture(number) => match unsafe { self.capture(stream, call, number) }? {
                Some(graph) => (number, Some(graph)),
                None => return self.send_library(stream, NOT_CAPTURED, send),
            },
            Due::Send => return self.send_library(stream, NOT_CAPTURED, send),
        };
        let given = Given::Library(number, call.accesses);
        self.take_long(stream, given, || match graph {
            // SAFETY: the graph has the work of this call.
            Some(graph) => unsafe { self.below.launch_graph(graph, stream) },
            None => send(),
        })
    }

    /// Sends a library's call that no trace can have, after the held-back calls.
    pub(super) fn send_library(
        &self,
        stream: RawStream,
        what: &'static str,
        send: impl FnOnce() -> DriverResult<()>,
    ) -> DriverResult<()> {
        self.disturb(Some(stream), what, Some(Omission::Libraries))?;
        self.queued(stream, send())
    }

    /// Captures a call. Returns `None` if the capture has failed. The call may be right all the same; if it is wrong, it returns
    /// an error itself when it is sent.
    ///
    /// # Errors
    /// The error of the capture, with the function and the operator, if the device is lost.
    ///
    /// # Safety
    /// As for [`Libraries::call_library`](crate::driver::Libraries::call_library).
    unsafe fn capture(
        &self,
        stream: RawStream,
        call: &LibraryCall<'_>,
        number: u64,
    ) -> DriverResult<Option<RawGraph>> {
        bound::bind(&self.below, stream.device())?;
        let node = GraphNode { work: GraphWork::Library(call), after: &[] };
        // SAFETY: the caller's contract. The graph is launched only in place of equal calls.
        let made = unsafe { self.below.create_graph(stream.device(), &[node]) };
        let noted = self.with(|state, (_, node)| match &made {
            Ok(graph) => {
                state.captures.set_graph(number, *graph);
                None
            }
            Err(_) => {
                state.captures.mark_failed(number);
                Some(state.node_name(node).to_owned())
            }
        });
        let error = match made {
            Ok(graph) => return Ok(Some(graph)),
            Err(error) => not_captured(error, call.function, &noted.flatten().unwrap_or_default()),
        };
        if self.below.sticky_error().is_some() {
            return Err(error);
        }
        log::write(
            move || tracing::warn!(%error, "a call of a library is sent, and may be captured when it comes again"),
        );
        Ok(None)
    }
}

impl State {
    /// How a library's call is treated.
    fn library(
        &mut self,
        below: &dyn Driver,
        thread: u64,
        stream: RawStream,
        call: &LibraryCall<'_>,
    ) -> Due {
        let mode = self.mode_of(thread).filter(|mode| *mode != Mode::Send);
        let Some(mode) = mode else { return Due::Take(UNKNOWN) };
        if self.refusal(stream, &Given::Library(UNKNOWN, &[])).is_some() {
            return Due::Take(UNKNOWN);
        }
        if let Some(number) = self.captures.find(stream.device(), call, self.omission) {
            return match self.captures.graph(number) {
                Some(_) => Due::Take(number),
                None if self.captures.is_given_up(number) => Due::Send,
                None => Due::Capture(number),
            };
        }
        if self.captures.is_full() {
            let needed = self.lanes.iter().map(|lane| &lane.trace).chain([&self.current]);
            for graph in self.captures.keep_only(needed.flat_map(Trace::libraries)) {
                // SAFETY: this layer made the graph, and no trace has its call.
                report_unless_refused("destroying a captured call", unsafe {
                    below.destroy_graph(graph)
                });
            }
        }
        let number = self.captures.add(stream.device(), call, self.omission);
        if self.is_eager && mode != Mode::Keep { Due::Capture(number) } else { Due::Take(number) }
    }

    /// Whether all calls of libraries of a trace were captured.
    pub(super) fn has_captured(&self, trace: &Trace) -> bool {
        trace.libraries().all(|number| self.captures.graph(number).is_some())
    }
}

impl Trace {
    /// The numbers of the calls of libraries.
    fn libraries(&self) -> impl Iterator<Item = u64> + '_ {
        self.calls.iter().filter_map(|call| match call.work {
            Work::Library(number, _) => Some(number),
            _ => None,
        })
    }
}

/// Adds the names of the function and the operator to the error of a capture.
#[cold]
fn not_captured(error: DriverError, function: &str, node: &str) -> DriverError {
    let which = format!("`{function}` of operator `{node}` could not be captured for replay");
    match error {
        DriverError::Call { call, device, code, name, message } => {
            DriverError::Call { call, device, code, name, message: format!("{message}; {which}") }
        }
        DriverError::Library(error) => {
            let remedy = format!("{}; {which}", error.remedy);
            LibraryError { remedy, ..error }.into()
        }
        DriverError::Unavailable { what, remedy } => {
            DriverError::Unavailable { what, remedy: format!("{remedy}; {which}") }
        }
        other => other,
    }
}
