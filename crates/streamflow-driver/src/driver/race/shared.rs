//! Access to the checker's state: one thread notes its calls in a journal, all other threads take the lock.
//!
//! The first thread that queues work owns the journal. The owner notes launches, copies, fills, reuse of memory, records and
//! waits there without a lock. All other threads, and all other calls, take the lock. A thread that has taken the lock first
//! applies the lines of the journal. So a race is found when the journal is full, when any thread takes the lock (for a
//! query or a synchronisation, at the end of a hook), or when reports are taken. When the owner has ended, another thread
//! can become the owner.

use std::fmt;
use std::sync::atomic::AtomicU64 as Counter;

use super::current_thread;
use super::journal::{Journal, Published};
use super::op::{self, Calls, EventOp, Work};
use super::order::CallId;
use super::site::Action;
use super::state::State;
use super::{RaceMark, RaceReports};
use crate::driver::{Access, RawEvent, RawStream, Rows};
use crate::lock::{Held, Lock};
use crate::log;
use crate::sync::{AtomicU64, Ordering};

/// The length of the journal in lines. The lines have 8 KiB in all, so the journal stays in the cache.
#[cfg(not(loom))]
const LINES: u16 = 256;
#[cfg(loom)]
const LINES: u16 = 4;

/// The number of the next checker. Numbers are unique within the process.
static CHECKERS: Counter = Counter::new(1);

/// The part of a checker that it shares with the wrappers of host functions.
pub(super) struct Shared {
    number: u64,
    /// The number of the thread that owns the journal: the first one that queued something, until it ends.
    owner: AtomicU64,
    journal: Journal,
    state: Lock<Protected>,
}

/// The data behind the checker's lock.
struct Protected {
    state: State,
    /// The index of the thread that owns the journal.
    owner: u32,
    /// The number of the journal's lines that were applied.
    read: usize,
    /// The journal's last call, if it was still open when its line was read.
    open: Option<CallId>,
}

/// Where a record or a wait was noted before the driver was called.
#[derive(Debug, Clone, Copy)]
pub(super) enum Noted {
    InJournal,
    UnderLock(CallId),
}

impl Shared {
    pub(super) fn new(defaults: Box<[RawStream]>) -> Self {
        Self {
            number: CHECKERS.fetch_add(1, Ordering::Relaxed),
            owner: AtomicU64::new(current_thread::NO_OWNER),
            journal: Journal::new(LINES),
            state: Lock::new(Protected {
                state: State::new(defaults),
                owner: 0,
                read: 0,
                open: None,
            }),
        }
    }

    /// Notes work that was queued, with its accesses. `function` is the number of the kernel or of the library's function; 0
    /// for other work.
    #[inline(always)]
    pub(super) fn work(
        &self,
        stream: RawStream,
        action: Action,
        function: u64,
        accesses: (&[Access], &[Rows]),
    ) {
        let work = Work { stream, action, function, location: current_thread::take_location() };
        // SAFETY: this thread is the writer, as `is_writer` says.
        let noted = self.is_writer() && unsafe { op::append_work(&self.journal, &work, accesses) };
        if !noted {
            self.work_locked(work, accesses);
        }
    }

    /// Notes a record or a wait that is about to be made. The caller passes its result to `end_event`.
    #[inline(always)]
    pub(super) fn begin_event(
        &self,
        event_op: EventOp,
        stream: RawStream,
        event: RawEvent,
    ) -> Noted {
        // SAFETY: this thread is the writer, as `is_writer` says.
        let noted =
            self.is_writer() && unsafe { op::append_event(&self.journal, event_op, stream, event) };
        if noted { Noted::InJournal } else { self.begin_event_locked(event_op, stream, event) }
    }

    /// Ends a record or a wait after the driver has returned. A call that has failed has no effect.
    #[inline(always)]
    pub(super) fn end_event(&self, noted: Noted, success: bool) {
        match noted {
            // SAFETY: this thread has noted the call in the journal, so it is the writer.
            Noted::InJournal if success => unsafe { self.journal.close() },
            Noted::InJournal => self.cancel_in_journal(),
            Noted::UnderLock(call) => self.end_call(call, success),
        }
    }

    #[cold]
    #[inline(never)]
    fn cancel_in_journal(&self) {
        // `lock` reads the journal. The call is still open, so `lock` begins it and puts its id in `open`.
        let call = self.lock().guard.open.take();
        // SAFETY: this thread has noted the call in the journal, so it is the writer.
        unsafe { self.journal.close() };
        if let Some(call) = call {
            self.end_call(call, false);
        }
    }

    /// Ends a call in flight. `success` is whether the call has succeeded; of a query, whether its answer is "complete".
    #[inline(never)]
    pub(super) fn end_call(&self, call: CallId, success: bool) {
        let mut guard = self.state.lock();
        self.drain(&mut guard);
        let order = &mut guard.state.order;
        if success { order.finish(call) } else { order.cancel(call) }
    }

    /// Whether the calling thread owns the journal. Numbers of threads are not reused, and another thread becomes the owner
    /// only after this thread has lost the number that is compared here.
    #[inline(always)]
    fn is_writer(&self) -> bool {
        self.owner.load(Ordering::Relaxed) == current_thread::journal_writer()
    }

    #[cold]
    #[inline(never)]
    fn work_locked(&self, work: Work, (accesses, rows): (&[Access], &[Rows])) {
        let mut locked = self.lock();
        self.claim_journal(&mut locked);
        let thread = locked.thread;
        let state = locked.state();
        let accesses = accesses.iter().map(|access| (*access, access.rows_in(rows).copied()));
        state.work(&state.caller(thread), work, accesses);
    }

    #[cold]
    #[inline(never)]
    fn begin_event_locked(&self, event_op: EventOp, stream: RawStream, event: RawEvent) -> Noted {
        let mut locked = self.lock();
        self.claim_journal(&mut locked);
        let thread = locked.thread;
        let state = locked.state();
        Noted::UnderLock(state.begin_event(&state.caller(thread), event_op, stream, event))
    }

    /// Locks the state, and applies all calls that were noted in the journal.
    pub(super) fn lock(&self) -> Locked<'_> {
        // No code under the lock panics. If it did, calls could be missing in the order, and a race be reported that does
        // not exist.
        let mut guard = self.state.lock();
        self.drain(&mut guard);
        let known = current_thread::checker_index(self.number);
        let known = known.filter(|(id, index)| guard.state.is_thread(*index, *id));
        let thread = match known {
            Some((_, index)) => index,
            None => self.register_thread(&mut guard),
        };
        Locked { guard, thread }
    }

    /// Applies the calls that were noted since the previous call of `drain`. A call that is still open is begun, and
    /// finished by a later `drain`.
    #[inline]
    fn drain(&self, protected: &mut Protected) {
        let Protected { state, owner, read, open } = protected;
        // SAFETY: the caller holds the lock: `Protected` is behind it.
        let Published { lines, is_open } = unsafe { self.journal.after(*read) };
        if (!is_open || !lines.is_empty())
            && let Some(call) = open.take()
        {
            state.order.finish(call);
        }
        // An open call has exactly one line, the last one.
        let (open_line, closed) = match lines.split_last() {
            Some((last, rest)) if is_open => (Some(last), rest),
            _ => (None, lines),
        };
        if !closed.is_empty() {
            // SAFETY: the lines are published, and `work` and `begin_event` wrote all of them.
            state.apply(*owner, unsafe { Calls::new(closed) });
        }
        if let Some(line) = open_line {
            // SAFETY: the line is published, and `begin_event` wrote it.
            *open = state.begin(*owner, unsafe { Calls::new(std::slice::from_ref(line)) });
        }
        *read += lines.len();
        if self.is_writer() {
            *read = 0;
            // SAFETY: this thread is the writer and holds the lock.
            unsafe { self.journal.clear() };
        }
    }

    /// Finds or makes the index of the calling thread: the thread calls this checker for the first time, or has called
    /// another checker in between.
    #[cold]
    fn register_thread(&self, protected: &mut Protected) -> u32 {
        let owner = self.owner.load(Ordering::Relaxed);
        if owner != current_thread::NO_OWNER && !protected.state.is_alive(owner) {
            // The owner has ended, so all its lines are visible now. They are applied before another thread can get the
            // owner's index.
            self.drain(protected);
            self.owner.store(current_thread::NO_OWNER, Ordering::Relaxed);
        }
        let (number, alive) = current_thread::number();
        let owner = self.owner.load(Ordering::Relaxed);
        let thread = protected.state.thread(number, alive, owner);
        current_thread::set_checker_index(self.number, thread);
        thread
    }

    /// Makes the calling thread, which is queueing work, the owner of the journal if the journal has none.
    fn claim_journal(&self, locked: &mut Locked<'_>) {
        let writer = current_thread::journal_writer();
        if self.owner.load(Ordering::Relaxed) == current_thread::NO_OWNER
            && writer != current_thread::NO_NUMBER
        {
            // All lines were read when the lock was taken, so the new owner's lines follow them.
            self.owner.store(writer, Ordering::Relaxed);
            locked.guard.owner = locked.thread;
        }
    }

    pub(super) fn since(&self, mark: &mut RaceMark) -> RaceReports {
        self.lock().state().since(mark)
    }

    pub(super) fn taken(&self) -> RaceMark {
        self.lock().state().taken.clone()
    }

    pub(super) fn take(&self) -> RaceReports {
        let reports = self.lock().state().take();
        // The lock is not held here, because a subscriber of the log may be slow, and may call the driver.
        for report in reports.races.clone() {
            log::write(move || tracing::debug!(%report, "a race"));
        }
        reports
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        let races = self.take();
        if !races.is_empty() {
            tracing::error!(
                "the race checker is dropped with reports that were not taken: {races}"
            );
        }
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("number", &self.number).finish_non_exhaustive()
    }
}

/// The locked state, and the index of the thread that has locked it.
pub(super) struct Locked<'a> {
    guard: Held<'a, Protected>,
    /// The index of the calling thread.
    pub(super) thread: u32,
}

impl Locked<'_> {
    pub(super) fn state(&mut self) -> &mut State {
        &mut self.guard.state
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
