//! What host threads find complete, and who goes by it.

use super::{Host, Order, Stream, Thread};
use crate::driver::RawEvent;
use crate::driver::race::clock::Clock;

/// What a thread knows, and what it is just asking for.
#[derive(Debug)]
pub(in crate::driver::race) struct Knowledge {
    clock: Clock,
    asked: Clock,
}

impl Order {
    pub(in crate::driver::race) fn add_thread(&mut self) -> u32 {
        self.threads.push(Thread::default());
        self.forget_thread(self.threads.len() as u32 - 1);
        self.threads.len() as u32 - 1
    }

    /// The thread is gone, and another one gets its index.
    pub(in crate::driver::race) fn forget_thread(&mut self, thread: u32) {
        self.versions += 1;
        let thread = &mut self.threads[thread as usize];
        thread.clock.clear();
        thread.version = self.versions;
    }

    /// The thread, as it queues things now.
    pub(in crate::driver::race) fn host(&self, thread: u32) -> Host {
        Host { thread, version: self.threads[thread as usize].version }
    }

    pub(in crate::driver::race) fn knows(&self, thread: u32) -> &Clock {
        &self.threads[thread as usize].clock
    }

    /// The thread is about to ask for all that `stream` has queued.
    pub(in crate::driver::race) fn ask_stream(&mut self, thread: u32, stream: u32) {
        let mut asked = std::mem::take(&mut self.threads[thread as usize].asked);
        self.release(stream, &mut asked);
        let thread = &mut self.threads[thread as usize];
        thread.asked = asked;
    }

    /// The thread is about to ask for an event's latest record. Another one, made meanwhile, is not
    /// what the answer is about.
    pub(in crate::driver::race) fn ask_event(&mut self, thread: u32, raw: RawEvent) {
        let thread = &mut self.threads[thread as usize];
        thread.asked.clear();
        let Some(index) = self.event_of.get(raw) else { return };
        let event = &self.events[index as usize];
        if event.epoch > 0 {
            thread.asked.copy_from(&event.clock);
        }
    }

    /// What the thread asked for last is complete.
    pub(in crate::driver::race) fn answer(&mut self, thread: u32) {
        let asking = &mut self.threads[thread as usize];
        if asking.asked.is_empty() {
            return;
        }
        if asking.clock.merge(&asking.asked) {
            self.versions += 1;
            asking.version = self.versions;
        }
        Self::complete(&mut self.streams, &asking.asked);
    }

    /// That work is complete says so of all that it came after, on whichever stream.
    fn complete(streams: &mut [Stream], found: &Clock) {
        for (index, stream) in streams.iter_mut().enumerate() {
            if found.get(index as u32) > 0 {
                stream.completed.merge(found);
            }
        }
    }

    /// A copy of what comes before this point of `stream`.
    pub(in crate::driver::race) fn snapshot(&mut self, stream: u32) -> Clock {
        let mut before = Clock::default();
        self.release(stream, &mut before);
        before
    }

    /// A host function is called on `thread`, with all that came `before` it complete. The thread knows
    /// this and nothing else until [`leave`](Self::leave) gets back what it knew.
    pub(in crate::driver::race) fn enter(&mut self, thread: u32, before: Clock) -> Knowledge {
        Self::complete(&mut self.streams, &before);
        self.exchange(thread, Knowledge { clock: before, asked: Clock::default() })
    }

    /// The host function has returned.
    pub(in crate::driver::race) fn leave(&mut self, thread: u32, known: Knowledge) {
        self.exchange(thread, known);
    }

    fn exchange(&mut self, thread: u32, known: Knowledge) -> Knowledge {
        self.versions += 1;
        let thread = &mut self.threads[thread as usize];
        thread.version = self.versions;
        Knowledge {
            clock: std::mem::replace(&mut thread.clock, known.clock),
            asked: std::mem::replace(&mut thread.asked, known.asked),
        }
    }

    /// The thread, or what is queued on `by` from now on, goes by what was found complete of `on`.
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
