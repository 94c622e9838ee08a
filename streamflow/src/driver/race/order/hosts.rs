//! What host threads find complete, and the work that relies on it.

use super::{HostThread, Order, Stream, Thread};
use crate::driver::RawEvent;
use crate::driver::race::clock::Clock;

/// The two clocks of a thread: what it has found complete, and its query in progress.
#[derive(Debug)]
pub(in crate::driver::race) struct ThreadClocks {
    clock: Clock,
    queried: Clock,
}

impl Order {
    pub(in crate::driver::race) fn add_thread(&mut self) -> u32 {
        self.threads.push(Thread::default());
        self.forget_thread(self.threads.len() as u32 - 1);
        self.threads.len() as u32 - 1
    }

    /// The thread has ended, and another one gets its index.
    pub(in crate::driver::race) fn forget_thread(&mut self, thread: u32) {
        self.versions += 1;
        let thread = &mut self.threads[thread as usize];
        thread.clock.clear();
        thread.version = self.versions;
    }

    /// The thread with the current version of its clock.
    pub(in crate::driver::race) fn host(&self, thread: u32) -> HostThread {
        HostThread { thread, version: self.threads[thread as usize].version }
    }

    pub(in crate::driver::race) fn thread_clock(&self, thread: u32) -> &Clock {
        &self.threads[thread as usize].clock
    }

    /// The thread is about to query all that is queued on `stream`, or to wait for it.
    pub(in crate::driver::race) fn begin_stream_query(&mut self, thread: u32, stream: u32) {
        let mut queried = std::mem::take(&mut self.threads[thread as usize].queried);
        self.release(stream, &mut queried);
        let thread = &mut self.threads[thread as usize];
        thread.queried = queried;
    }

    /// The thread is about to query an event's latest record, or to wait for it. The answer does not cover a
    /// record that another thread makes meanwhile.
    pub(in crate::driver::race) fn begin_event_query(&mut self, thread: u32, raw: RawEvent) {
        let thread = &mut self.threads[thread as usize];
        thread.queried.clear();
        let Some(index) = self.index_by_event.get(raw) else { return };
        let event = &self.events[index as usize];
        if event.epoch > 0 {
            thread.queried.copy_from(&event.clock);
        }
    }

    /// The thread's last query was answered "complete".
    pub(in crate::driver::race) fn confirm_query(&mut self, thread: u32) {
        let querying = &mut self.threads[thread as usize];
        if querying.queried.is_empty() {
            return;
        }
        if querying.clock.merge(&querying.queried) {
            self.versions += 1;
            querying.version = self.versions;
        }
        Self::note_complete(&mut self.streams, &querying.queried);
    }

    /// Notes at each stream that its work up to `found` is complete.
    fn note_complete(streams: &mut [Stream], found: &Clock) {
        for (index, stream) in streams.iter_mut().enumerate() {
            if found.get(index as u32) > 0 {
                stream.completed.merge(found);
            }
        }
    }

    /// A copy of the stream's clock, after which the stream's next epoch begins.
    pub(in crate::driver::race) fn snapshot(&mut self, stream: u32) -> Clock {
        let mut before = Clock::default();
        self.release(stream, &mut before);
        before
    }

    /// A host function is called on `thread`: all `before` it is complete. The thread has found this and nothing
    /// else complete until [`leave_host_function`](Self::leave_host_function) restores its clocks.
    pub(in crate::driver::race) fn enter_host_function(
        &mut self,
        thread: u32,
        before: Clock,
    ) -> ThreadClocks {
        Self::note_complete(&mut self.streams, &before);
        self.exchange(thread, ThreadClocks { clock: before, queried: Clock::default() })
    }

    /// The host function has returned.
    pub(in crate::driver::race) fn leave_host_function(
        &mut self,
        thread: u32,
        saved: ThreadClocks,
    ) {
        self.exchange(thread, saved);
    }

    fn exchange(&mut self, thread: u32, new: ThreadClocks) -> ThreadClocks {
        self.versions += 1;
        let thread = &mut self.threads[thread as usize];
        thread.version = self.versions;
        ThreadClocks {
            clock: std::mem::replace(&mut thread.clock, new.clock),
            queried: std::mem::replace(&mut thread.queried, new.queried),
        }
    }

    /// The thread, or the work that is queued on `by` from now on, relies on what any thread has found complete
    /// of `on`.
    pub(in crate::driver::race) fn rely(&mut self, thread: u32, on: u32, by: Option<u32>) {
        let mut found = std::mem::take(&mut self.scratch);
        found.copy_from(&self.streams[on as usize].completed);
        match by {
            Some(by) => {
                self.streams[by as usize].clock.merge(&found);
            }
            None => {
                let relying = &mut self.threads[thread as usize];
                if relying.clock.merge(&found) {
                    self.versions += 1;
                    relying.version = self.versions;
                }
            }
        }
        self.scratch = found;
    }
}
