//! The way to the state: by a ring for one thread, by a lock for the others.

use std::fmt;
use std::iter::once;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::me;
use super::op::Op;
use super::report::RaceReports;
use super::ring::Ring;
use super::site::Action;
use super::state::State;
use crate::driver::{Access, RawStream};

/// Places of the ring. Few, so that they stay in the cache.
const RING: usize = 64;

/// Tells checkers apart within a process.
static CHECKERS: AtomicU64 = AtomicU64::new(1);

/// What a checker and the host functions that it wrapped share.
pub(super) struct Shared {
    number: u64,
    /// The thread whose calls go by the ring: the first that made one, until it is gone.
    owner: AtomicU64,
    ring: Ring<Op>,
    state: Mutex<Checked>,
}

struct Checked {
    state: State,
    /// The index of the ring's thread.
    owner: u32,
}

impl Shared {
    pub(super) fn new(defaults: Box<[RawStream]>) -> Self {
        Self {
            number: CHECKERS.fetch_add(1, Ordering::Relaxed),
            owner: AtomicU64::new(me::NEVER),
            ring: Ring::new(RING),
            state: Mutex::new(Checked { state: State::new(defaults), owner: 0 }),
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
        let location = me::take_location();
        let op = || Op::work(stream, action, function, location, accesses.len());
        self.note(op, accesses);
    }

    /// Notes a call. All that is known by another thread's call is noted before that.
    ///
    /// `op` makes the call anew for either way to note it, so that on the fast one its fields go from
    /// registers to the ring.
    #[inline(always)]
    pub(super) fn note(&self, op: impl Fn() -> Op, accesses: &[Access]) {
        if self.owner.load(Ordering::Relaxed) == me::alone() {
            // SAFETY: the ring's owner is this thread. Numbers are given once, and another thread
            // becomes the owner only when this one has no number to compare with any more.
            unsafe {
                if self.ring.has_room(1 + accesses.len()) {
                    self.ring.push(op());
                    for access in accesses {
                        self.ring.push(Op::access(access));
                    }
                    return self.ring.publish();
                }
            }
        }
        self.note_locked(op(), accesses);
    }

    #[cold]
    #[inline(never)]
    fn note_locked(&self, op: Op, accesses: &[Access]) {
        let mut locked = self.lock();
        let thread = locked.thread;
        locked.state().apply(thread, once(op).chain(accesses.iter().map(Op::access)));
    }

    /// The state, with all that was noted before.
    pub(super) fn lock(&self) -> Locked<'_> {
        // Nothing in here panics; if it did, an order could be missing, and a race be reported that
        // there is not.
        let mut guard = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        self.drain(&mut guard);
        let known = me::place(self.number);
        let known = known.filter(|(id, index)| guard.state.is_thread(*index, *id));
        let thread = match known {
            Some((_, index)) => index,
            None => self.introduce(&mut guard),
        };
        Locked { guard, thread }
    }

    /// Applies what the ring holds.
    #[inline]
    fn drain(&self, Checked { state, owner }: &mut Checked) {
        // SAFETY: who has `Checked` holds the lock.
        unsafe { self.ring.drain(|ops| state.apply(*owner, ops)) };
    }

    /// A thread calls for the first time, or has used another checker meanwhile.
    #[cold]
    fn introduce(&self, checked: &mut Checked) -> u32 {
        let (number, alive) = me::number();
        let lives = alive.load(Ordering::Relaxed);
        let thread = checked.state.thread(number, alive);
        me::set_place(self.number, thread);
        let owner = self.owner.load(Ordering::Relaxed);
        if lives && (owner == me::NEVER || !checked.state.is_alive(owner)) {
            // Nobody else has the right to fill the ring any more. What its owner noted last is seen
            // now that the owner was seen to be gone.
            self.drain(checked);
            self.owner.store(number, Ordering::Relaxed);
            checked.owner = thread;
        }
        thread
    }

    pub(super) fn take(&self) -> RaceReports {
        self.lock().state().take()
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
    guard: MutexGuard<'a, Checked>,
    /// Its index.
    pub(super) thread: u32,
}

impl Locked<'_> {
    pub(super) fn state(&mut self) -> &mut State {
        &mut self.guard.state
    }
}
