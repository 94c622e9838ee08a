//! Queries, waits of the host, and downloads. The checker begins each of these calls before it calls the driver, and ends
//! the call with the driver's answer.

use super::RaceChecker;
use super::current_thread;
use super::op::Work;
use super::order::CallId;
use super::site::Action;
use crate::driver::{Access, DriverResult, RawEvent, RawStream, Rows};

impl RaceChecker {
    pub(super) fn begin_stream_query(&self, stream: RawStream) -> CallId {
        let mut locked = self.shared.lock();
        let (thread, state) = (locked.thread, locked.state());
        let stream = state.order.stream(stream);
        let query = state.order.begin_stream_query(thread, stream);
        state.report_stale(thread, "a query or a wait of the host");
        query
    }

    pub(super) fn begin_event_query(&self, event: RawEvent) -> CallId {
        let mut locked = self.shared.lock();
        let (thread, state) = (locked.thread, locked.state());
        let query = state.order.begin_event_query(thread, event);
        state.report_stale(thread, "a query or a wait of the host");
        query
    }

    /// Begins a copy to ordinary memory. When the copy's call returns, the copy and all work that was queued before it are
    /// complete. The read counts even if the copy fails, since the bytes may have been read.
    pub(super) fn begin_download(
        &self,
        stream: RawStream,
        read: Access,
        rows: Option<Rows>,
    ) -> CallId {
        let location = current_thread::take_location();
        let mut locked = self.shared.lock();
        let (thread, state) = (locked.thread, locked.state());
        let work = Work { stream, action: Action::Copy, function: 0, location };
        state.work(&state.caller(thread), work, [(read, rows)]);
        let stream = state.order.stream(stream);
        state.order.begin_stream_query(thread, stream)
    }

    pub(super) fn end_query(
        &self,
        query: CallId,
        answer: DriverResult<bool>,
    ) -> DriverResult<bool> {
        self.shared.end_call(query, matches!(answer, Ok(true)));
        answer
    }

    pub(super) fn end_wait(&self, query: CallId, waited: DriverResult<()>) -> DriverResult<()> {
        self.shared.end_call(query, waited.is_ok());
        waited
    }
}
