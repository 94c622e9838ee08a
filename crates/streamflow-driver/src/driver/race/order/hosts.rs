//! The work that host threads find complete, and later work that relies on it.

use super::{HostThread, Order, Thread};
use crate::driver::RawEvent;
use crate::driver::race::clock::Clock;

impl Order {
    pub(in crate::driver::race) fn add_thread(&mut self) -> u32 {
        self.threads.push(Thread::default());
        self.forget_thread(self.threads.len() as u32 - 1);
        self.threads.len() as u32 - 1
    }

    /// Forgets the work that a thread has found complete: the thread has ended, and another one gets its index.
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

    /// Copies the stream's clock, and begins the stream's next epoch.
    pub(in crate::driver::race) fn snapshot(&mut self, stream: u32, to: &mut Clock) {
        self.release(stream, to);
    }

    /// Notes that a host function is called on `thread`: all work in `before` is complete. The thread counts as having found that
    /// work complete, and no other work, until [`leave_host_function`](Self::leave_host_function) restores the thread's own
    /// clock. Returns this own clock.
    pub(in crate::driver::race) fn enter_host_function(
        &mut self,
        thread: u32,
        before: Clock,
    ) -> Clock {
        Self::mark_complete(&mut self.streams, &before);
        self.exchange(thread, before)
    }

    /// Restores the thread's clock after a host function. Returns the clock that the thread had during the call.
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

    /// Makes later work come after work of the stream `on` that some thread has found complete. The later work is that of the
    /// thread, or what is queued on the stream `by` from now on. If the event `record` holds a record of the stream `on` that was
    /// found complete, the earlier work is that before the record; else it is all work of the stream that was found complete.
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
