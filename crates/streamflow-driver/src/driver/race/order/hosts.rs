//! The work that host threads have found complete, and later work that relies on it.

use super::{HostThread, Order, Thread};
use crate::driver::RawEvent;
use crate::driver::race::clock::Clock;

impl Order {
    pub(in crate::driver::race) fn add_thread(&mut self) -> u32 {
        self.threads.push(Thread::default());
        self.forget_thread(self.threads.len() as u32 - 1);
        self.threads.len() as u32 - 1
    }

    /// Clears the clock of a thread that has ended, because another thread gets its index.
    pub(in crate::driver::race) fn forget_thread(&mut self, thread: u32) {
        self.versions += 1;
        let thread = &mut self.threads[thread as usize];
        thread.clock.clear();
        thread.version = self.versions;
    }

    /// Returns the thread with the current version of its clock.
    pub(in crate::driver::race) fn host(&self, thread: u32) -> HostThread {
        HostThread { thread, version: self.threads[thread as usize].version }
    }

    pub(in crate::driver::race) fn thread_clock(&self, thread: u32) -> &Clock {
        &self.threads[thread as usize].clock
    }

    /// Copies the clock of a stream into `to`, and begins the stream's next epoch.
    pub(in crate::driver::race) fn snapshot(&mut self, stream: u32, to: &mut Clock) {
        self.release(stream, to);
    }

    /// Notes that a host function is being called on `thread`: all work in `before` is complete. Until
    /// [`leave_host_function`](Self::leave_host_function) restores the thread's own clock, the thread counts as having found
    /// the work in `before` complete, and no other work. Returns the thread's own clock.
    pub(in crate::driver::race) fn enter_host_function(
        &mut self,
        thread: u32,
        before: Clock,
    ) -> Clock {
        Self::mark_complete(&mut self.streams, &before);
        self.exchange(thread, before)
    }

    /// Restores the own clock of a thread after a host function. Returns the clock that the thread had during the function.
    pub(in crate::driver::race) fn leave_host_function(
        &mut self,
        thread: u32,
        saved: Clock,
    ) -> Clock {
        self.exchange(thread, saved)
    }

    fn exchange(&mut self, thread: u32, new: Clock) -> Clock {
        self.versions += 1;
        let thread = &mut self.threads[thread as usize];
        thread.version = self.versions;
        std::mem::replace(&mut thread.clock, new)
    }

    /// Makes later work come after work of the stream `on` that some thread has found complete. The later work is all that
    /// is queued on the stream `by` from now on; without `by`, all that the thread queues. If the event `record` holds a
    /// record of the stream `on` that was found complete, the earlier work is that before the record; else it is all work of
    /// the stream `on` that was found complete.
    pub(in crate::driver::race) fn rely(
        &mut self,
        thread: u32,
        on: u32,
        record: Option<RawEvent>,
        by: Option<u32>,
    ) {
        let mut found = std::mem::take(&mut self.scratch);
        let completed = &self.streams[on as usize].completed;
        let event = record.and_then(|raw| self.index_by_event.get(raw));
        let record = event.map(|event| &self.events[event as usize]);
        let record = record.filter(|it| it.stream == on && it.epoch > 0);
        match record.filter(|it| it.epoch <= completed.get(on)) {
            Some(record) => found.copy_from(&record.clock),
            None => found.copy_from(completed),
        }
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
