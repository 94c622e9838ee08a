//! Calls of libraries in a pass: whether such a call is captured as a graph, and whether it is held back.

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

/// The reason that the report gives for a pass with a library call that could not be captured.
const NOT_CAPTURED: &str = "a call of a library that could not be captured; the log has the error";

/// The treatment of a library's call on the slow path.
enum Due {
    /// The call has this number. It is compared with the calls of traces by its number, and held back or sent.
    Take(u64),
    /// As `Take`, but the call must be captured first. It occurs for the second time, or, with `is_eager`, for the first
    /// time.
    Capture(u64),
    /// The call is sent, because its captures have failed too often.
    Send,
}

impl<D: Driver> Replaying<D> {
    /// The slow path of a library's call: it is held back or sent. `send` calls the library.
    ///
    /// The library is called without the state's lock, for a capture, too: its host body may be a user's code.
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
            // SAFETY: the graph is the capture of a call that equals this one.
            Some(graph) => unsafe { self.below.launch_graph(graph, stream) },
            None => send(),
        })
    }

    /// Sends the held-back calls, and then a library's call that no trace can contain.
    pub(super) fn send_library(
        &self,
        stream: RawStream,
        what: &'static str,
        send: impl FnOnce() -> DriverResult<()>,
    ) -> DriverResult<()> {
        self.disturb(Some(stream), what, Some(Omission::Libraries))?;
        self.queued(stream, send())
    }

    /// Captures a call as a graph. Returns `None` if the capture has failed. If the call itself is wrong, it returns an
    /// error when it is sent; else it succeeds then.
    ///
    /// # Errors
    /// If the device is lost: the error of the capture, with the names of the function and the operator.
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
    /// Decides how a library's call is treated.
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
                // SAFETY: this layer made the graph, and no trace contains its call.
                report_unless_refused("destroying a captured call", unsafe {
                    below.destroy_graph(graph)
                });
            }
        }
        let number = self.captures.add(stream.device(), call, self.omission);
        if self.is_eager && mode != Mode::Keep { Due::Capture(number) } else { Due::Take(number) }
    }

    /// Whether all library calls of a trace were captured.
    pub(super) fn has_captured(&self, trace: &Trace) -> bool {
        trace.libraries().all(|number| self.captures.graph(number).is_some())
    }
}

impl Trace {
    /// The numbers of the trace's library calls.
    fn libraries(&self) -> impl Iterator<Item = u64> + '_ {
        self.calls.iter().filter_map(|call| match call.work {
            Work::Library(number, _) => Some(number),
            _ => None,
        })
    }
}

/// Adds the names of the function and the operator to the error of a failed capture.
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
