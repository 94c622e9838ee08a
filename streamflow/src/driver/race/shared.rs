//! The way to the state: by a journal for one thread, by a lock for the others.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use super::journal::Journal;
use super::me;
use super::op::{self, Calls, Verb, Work};
use super::site::Action;
use super::state::State;
use super::{RaceMark, RaceReports};
use crate::driver::{Access, RawEvent, RawStream};
use crate::lock::{Held, Lock};

/// Lines of the journal. Few, so that they stay in the cache: 8 KiB.
const LINES: u16 = 256;

/// Tells checkers apart within a process.
static CHECKERS: AtomicU64 = AtomicU64::new(1);

/// What a checker and the host functions that it wrapped share.
pub(super) struct Shared {
    number: u64,
    /// The thread that writes the journal: the first that queued something, until it is gone.
    owner: AtomicU64,
    journal: Journal,
    state: Lock<Checked>,
}

struct Checked {
    state: State,
    /// The index of the thread that writes the journal.
    owner: u32,
    /// Lines of the journal that were read.
    read: usize,
}

impl Shared {
    pub(super) fn new(defaults: Box<[RawStream]>) -> Self {
        Self {
            number: CHECKERS.fetch_add(1, Ordering::Relaxed),
            owner: AtomicU64::new(me::NEVER),
            journal: Journal::new(LINES),
            state: Lock::new(Checked { state: State::new(defaults), owner: 0, read: 0 }),
        }
    }

    /// Notes work and its accesses. `function` is the kernel's, if it is one.
    #[inline(always)]
    pub(super) fn work(
        &self,
        stream: RawStream,
        action: Action,
        function: u64,
        accesses: &[Access],
    ) {
        let work = Work { stream, action, function, location: me::take_location() };
        // SAFETY: this thread is the writer, as it has just asked.
        let noted = self.is_writer() && unsafe { op::note_work(&self.journal, &work, accesses) };
        if !noted {
            self.work_locked(work, accesses);
        }
    }

    /// Notes what a stream does with an event.
    #[inline(always)]
    pub(super) fn event(&self, verb: Verb, stream: RawStream, event: RawEvent) {
        // SAFETY: this thread is the writer, as it has just asked.
        let noted =
            self.is_writer() && unsafe { op::note_event(&self.journal, verb, stream, event) };
        if !noted {
            self.event_locked(verb, stream, event);
        }
    }

    /// Whether the journal is this thread's. Numbers are given once, and another thread becomes the
    /// owner only when this one has no number to compare with any more.
    #[inline(always)]
    fn is_writer(&self) -> bool {
        self.owner.load(Ordering::Relaxed) == me::alone()
    }

    #[cold]
    #[inline(never)]
    fn work_locked(&self, work: Work, accesses: &[Access]) {
        let mut locked = self.lock();
        self.claim(&mut locked);
        let thread = locked.thread;
        let state = locked.state();
        state.work(&state.caller(thread), work, accesses.iter().copied());
    }

    #[cold]
    #[inline(never)]
    fn event_locked(&self, verb: Verb, stream: RawStream, event: RawEvent) {
        let mut locked = self.lock();
        self.claim(&mut locked);
        let thread = locked.thread;
        let state = locked.state();
        state.event(&state.caller(thread), verb, stream, event);
    }

    /// The state, with all that was noted before.
    pub(super) fn lock(&self) -> Locked<'_> {
        // Nothing in here panics; if it did, an order could be missing, and a race be reported that
        // there is not.
        let mut guard = self.state.lock();
        self.drain(&mut guard);
        let known = me::place(self.number);
        let known = known.filter(|(id, index)| guard.state.is_thread(*index, *id));
        let thread = match known {
            Some((_, index)) => index,
            None => self.introduce(&mut guard),
        };
        Locked { guard, thread }
    }

    /// Applies what was noted since the last time.
    #[inline]
    fn drain(&self, Checked { state, owner, read }: &mut Checked) {
        // SAFETY: who has `Checked` holds the lock.
        let lines = unsafe { self.journal.after(*read) };
        if !lines.is_empty() {
            *read += lines.len();
            // SAFETY: published lines, all noted by `work` and `event`.
            state.apply(*owner, unsafe { Calls::new(lines) });
        }
        if self.is_writer() {
            *read = 0;
            // SAFETY: the writer is here, with the lock.
            unsafe { self.journal.clear() };
        }
    }

    /// A thread calls for the first time, or has used another checker meanwhile.
    #[cold]
    fn introduce(&self, checked: &mut Checked) -> u32 {
        let owner = self.owner.load(Ordering::Relaxed);
        if owner != me::NEVER && !checked.state.is_alive(owner) {
            // What its owner noted last is seen now that the owner was seen to be gone. Only then may
            // another thread get its index.
            self.drain(checked);
            self.owner.store(me::NEVER, Ordering::Relaxed);
        }
        let (number, alive) = me::number();
        let owner = self.owner.load(Ordering::Relaxed);
        let thread = checked.state.thread(number, alive, owner);
        me::set_place(self.number, thread);
        thread
    }

    /// Gives the journal to a thread that queues something, if it is nobody's.
    fn claim(&self, locked: &mut Locked<'_>) {
        let me = me::alone();
        if self.owner.load(Ordering::Relaxed) == me::NEVER && me != me::NOBODY {
            // All that is in there was read when the lock was taken.
            self.owner.store(me, Ordering::Relaxed);
            locked.guard.owner = locked.thread;
        }
    }

    pub(super) fn since(&self, mark: &mut RaceMark) -> RaceReports {
        self.lock().state().since(mark)
    }

    pub(super) fn take(&self) -> RaceReports {
        let reports = self.lock().state().take();
        // Without the lock: a subscriber may take its time, and call the driver itself.
        reports.races.iter().for_each(|report| tracing::debug!(%report, "a race"));
        reports
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        let races = self.take();
        if !races.is_empty() {
            tracing::error!("races that nobody has asked about: {races}");
        }
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("number", &self.number).finish_non_exhaustive()
    }
}

/// The state, for the calling thread.
pub(super) struct Locked<'a> {
    guard: Held<'a, Checked>,
    /// Its index.
    pub(super) thread: u32,
}

impl Locked<'_> {
    pub(super) fn state(&mut self) -> &mut State {
        &mut self.guard.state
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::sync::{Arc, mpsc};
    use std::thread;

    use super::*;
    use crate::driver::{AccessMode, DeviceId, MemoryRange};

    #[test]
    fn the_owner_of_a_full_journal_that_others_have_read_begins_anew() {
        let shared = Shared::new(Box::default());
        let stream = RawStream::new(DeviceId(0), 1);
        let event = RawEvent::new(DeviceId(0), 2);
        // SAFETY: here is the only thread that notes anything.
        let noted = || unsafe { shared.journal.after(0) }.len();
        shared.event(Verb::Record, stream, event);
        for round in 0..3 {
            for lines in 1..=usize::from(LINES) {
                shared.event(Verb::Record, stream, event);
                assert_eq!(noted(), lines, "round {round}");
            }
            let read = thread::scope(|scope| scope.spawn(|| shared.lock().guard.read).join());
            assert_eq!(read.ok(), Some(LINES.into()));
            shared.event(Verb::Record, stream, event);
            assert_eq!(noted(), 0, "the lock was taken, and all was read");
        }
    }

    /// Another thread has read the journal, and not yet seen that its owner is gone.
    #[test]
    fn what_the_owner_noted_last_is_its_own_and_not_of_who_gets_its_index() {
        let shared = Arc::new(Shared::new(Box::default()));
        let (begun, has_begun) = mpsc::channel();
        let (go_on, may_go_on) = mpsc::channel();
        let owner = thread::spawn({
            let shared = shared.clone();
            move || {
                let [a, b] = [1, 2].map(|handle| RawStream::new(DeviceId(0), handle));
                let range = MemoryRange { address: 4096, bytes: 512 };
                let access = Access { range, mode: AccessMode::Write, argument: "" };
                {
                    let mut locked = shared.lock();
                    let thread = locked.thread;
                    locked.state().allocate(thread, a, range, None);
                }
                shared.work(a, Action::Fill, 0, &[access]);
                {
                    // It finds that complete.
                    let mut locked = shared.lock();
                    let thread = locked.thread;
                    let order = &mut locked.state().order;
                    let stream = order.stream(a);
                    order.ask_stream(thread, stream);
                    order.answer(thread);
                }
                begun.send(()).unwrap();
                may_go_on.recv().unwrap();
                shared.work(b, Action::Fill, 0, &[access]);
            }
        });
        has_begun.recv().unwrap();
        let mut guard = shared.state.lock();
        shared.drain(&mut guard);
        go_on.send(()).unwrap();
        owner.join().unwrap();
        shared.introduce(&mut guard);
        drop(guard);
        let races = shared.take();
        assert!(races.is_empty(), "{races}");
    }
}
