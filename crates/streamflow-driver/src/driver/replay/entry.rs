//! How a call reaches the state of a [`Replaying`], and the steps before and after a call that is sent.
//!
//! The code for a call that is not the next one of the trace is in functions that are not inlined, and the fields that are
//! compared are adjacent. This saves 40 instructions of a replayed tick of NVIDIA's CudaStreamPool example, and 11 for each
//! operator of a chain, counted by callgrind on `floor`.

use super::bound;
use super::mode::Taken;
use super::state::{Sent, State};
use super::trace::Given;
use super::{Omission, Replaying};
use crate::driver::{Driver, DriverResult, MemoryRange, RawEvent, RawStream};
use crate::sync::{AtomicU64, Ordering};
use crate::{lock, log};

thread_local! {
    /// The address of this variable is the thread's number.
    static THREAD: u8 = const { 0 };
}

/// A call that has locked the state. The drop ends it.
struct Call<'a> {
    /// The number of the thread that makes the call; set to 0 in the drop.
    caller: &'a AtomicU64,
}

impl Drop for Call<'_> {
    fn drop(&mut self) {
        self.caller.store(0, Ordering::Relaxed);
    }
}

/// How the fast path treats a call.
pub(super) enum Looked<R> {
    /// The call is held back.
    Held,
    /// The call is beside all passes, and is made directly. Contains the result of `beside`.
    Beside(R),
}

/// The number of the calling thread.
pub(super) fn thread() -> u64 {
    THREAD.try_with(|mark| std::ptr::from_ref(mark).addr() as u64).unwrap_or_default()
}

impl<D: Driver> Replaying<D> {
    /// As [`with`](Self::with), in a call that may execute bodies: bodies that were put off under the lock execute afterwards.
    pub(super) fn with_bodies<R>(
        &self,
        run: impl FnOnce(&mut State, (u64, u32)) -> R,
    ) -> Option<R> {
        let done = self.with(run)?;
        self.below.observer().catch_up();
        Some(done)
    }

    /// Calls `run` with the locked state, and with the calling thread and node. Returns `None` if this thread is already inside
    /// of another call of this driver, as a layer below may make one. No body executes: the caller may hold a lock.
    pub(super) fn with<R>(&self, run: impl FnOnce(&mut State, (u64, u32)) -> R) -> Option<R> {
        let thread = thread();
        // Each driver has a `caller` of its own, since a call of another platform's driver may make calls of this one. Only this
        // thread stores its own number.
        if self.caller.load(Ordering::Relaxed) == thread {
            return None;
        }
        // Made first, and so dropped last, after the lock: a subscriber of the log may call the driver.
        let _later = log::later();
        let node = self.node.load(Ordering::Relaxed) as u32;
        let held = lock::hold();
        let mut state = self.state.lock();
        self.caller.store(thread, Ordering::Relaxed);
        // Dropped also if `run` unwinds: a layer below may be a user's code.
        let call = Call { caller: &self.caller };
        let done = run(&mut state, (thread, node));
        if let Err(error) = bound::restore(&self.below) {
            state.failed.get_or_insert(error);
        }
        drop(call);
        drop((state, held));
        Some(done)
    }

    /// The fast path of a call. Holds the call back if it is the next one of the trace that this thread follows, or makes it if
    /// it is beside all passes. Returns `None` for a call that takes the slow path.
    ///
    /// `compare` gets the state and the calling node, and makes no driver call. `beside` makes the call itself where the state
    /// must stay locked until the call is made.
    #[inline]
    pub(super) fn look<R>(
        &self,
        stream: RawStream,
        compare: impl FnOnce(&mut State, u32) -> bool,
        beside: impl FnOnce(&mut State) -> Option<R>,
    ) -> Option<Looked<R>> {
        // Slow path: another thread has locked the state, or this thread has, in a call around this one.
        let mut state = self.state.try_lock()?;
        let thread = thread();
        if state.follower == thread {
            let node = self.node.load(Ordering::Relaxed) as u32;
            return compare(&mut state, node).then_some(Looked::Held);
        }
        if !state.is_beside(thread, Some(stream)) {
            return None;
        }
        beside(&mut state).map(Looked::Beside)
    }

    /// The slow path of a call that a trace can have. Returns whether the caller sends the call now; the call's stream then comes
    /// after the launches that rule 1 names.
    fn take(&self, stream: RawStream, given: Given<'_>) -> DriverResult<Taken> {
        let taken = self.with_bodies(|state, who| {
            if state.is_resting {
                let may_ask = state.questions.is_due();
                self.rest_by_now(state, may_ask);
            }
            self.take_in(state, who, stream, given)
        });
        taken.unwrap_or(Ok(Taken::Send))
    }

    /// As [`take`](Self::take), with the state locked.
    fn take_in(
        &self,
        state: &mut State,
        who: (u64, u32),
        stream: RawStream,
        given: Given<'_>,
    ) -> DriverResult<Taken> {
        let taken = state.take(&self.below, who, stream, given)?;
        if taken == Taken::Send {
            state.settle(&self.below, stream)?;
        }
        Ok(taken)
    }

    /// Holds back a call that queues work, or sends it.
    #[inline]
    pub(super) fn send_or_hold(
        &self,
        stream: RawStream,
        is_next: impl FnOnce(&mut State, u32) -> bool,
        given: Given<'_>,
        send: impl FnOnce() -> DriverResult<()>,
    ) -> DriverResult<()> {
        match self.look(stream, is_next, |_| Some(())) {
            Some(Looked::Held) => Ok(()),
            Some(Looked::Beside(())) => self.queued(stream, send()),
            None => self.take_long(stream, given, send),
        }
    }

    /// As [`send_or_hold`](Self::send_or_hold), on the slow path.
    #[cold]
    #[inline(never)]
    pub(super) fn take_long(
        &self,
        stream: RawStream,
        given: Given<'_>,
        send: impl FnOnce() -> DriverResult<()>,
    ) -> DriverResult<()> {
        match self.take(stream, given)? {
            Taken::Held => Ok(()),
            Taken::Send => self.sent(stream, send()),
        }
    }

    /// As [`send_or_hold`](Self::send_or_hold), for a record on the slow path.
    ///
    /// # Safety
    /// As for [`Driver::record_event`].
    #[cold]
    #[inline(never)]
    pub(super) unsafe fn record_or_hold(
        &self,
        event: RawEvent,
        stream: RawStream,
    ) -> DriverResult<()> {
        let done = self.send_at_once(stream, Given::Record(event, 0), |state| {
            // SAFETY: the caller's contract.
            unsafe { self.below.record_event(event, stream) }?;
            state.mark_recorded(event);
            Ok(())
        });
        // SAFETY: the caller's contract.
        done.unwrap_or_else(|| unsafe { self.below.record_event(event, stream) })
    }

    /// As [`send_or_hold`](Self::send_or_hold), for a wait on the slow path.
    ///
    /// # Safety
    /// As for [`Driver::wait_event`].
    #[cold]
    #[inline(never)]
    pub(super) unsafe fn wait_or_hold(
        &self,
        stream: RawStream,
        event: RawEvent,
    ) -> DriverResult<()> {
        let done = self.send_at_once(stream, Given::Wait(event, 0), |state| {
            let launch = state.launch_of(event);
            state.send_wait(&self.below, stream, event, launch)
        });
        // SAFETY: the caller's contract.
        done.unwrap_or_else(|| unsafe { self.below.wait_event(stream, event) })
    }

    /// As [`send_or_hold`](Self::send_or_hold), with the state locked until the call is made. Otherwise the thread of the pass
    /// could in between hold back a newer record of the same event. Returns `None` if this thread is already inside of another
    /// call of this driver.
    fn send_at_once(
        &self,
        stream: RawStream,
        given: Given<'_>,
        send: impl FnOnce(&mut State) -> DriverResult<()>,
    ) -> Option<DriverResult<()>> {
        let taken = self.with(|state, who| -> DriverResult<_> {
            if self.take_in(state, who, stream, given)? == Taken::Held {
                return Ok(None);
            }
            // `with` restores the bound device only at its end, and `send` needs the caller's device now.
            bound::restore(&self.below)?;
            Ok(Some(send(state)))
        })?;
        Some(taken.and_then(|sent| sent.map_or(Ok(()), |done| self.sent(stream, done))))
    }

    /// Notes that a call was sent, and its result.
    fn sent(&self, stream: RawStream, done: DriverResult<()>) -> DriverResult<()> {
        self.with(|state, (thread, _)| {
            // `settle` has noted this before the call. Another thread may have launched a graph since, and cleared the note.
            state.stream(stream).sent = Sent::Something;
            if done.is_err() {
                state.spoil(thread);
            }
        });
        done
    }

    /// Prepares for a call that no trace can have: sends the held-back calls first if they may matter to it.
    pub(super) fn disturb(
        &self,
        stream: Option<RawStream>,
        what: &'static str,
        rule: Option<Omission>,
    ) -> DriverResult<()> {
        let is_beside = |state: &State, thread| state.is_beside(thread, stream);
        self.disturb_unless(is_beside, stream, what, rule)
    }

    /// Prepares for a call that waits for all work of the device, including held-back work of other streams.
    pub(super) fn disturb_all(&self, stream: RawStream, what: &'static str) -> DriverResult<()> {
        let is_beside = |state: &State, thread| {
            state.is_beside(thread, None) && state.is_beside(thread, Some(stream))
        };
        self.disturb_unless(is_beside, Some(stream), what, None)
    }

    fn disturb_unless(
        &self,
        is_beside: impl Fn(&State, u64) -> bool,
        stream: Option<RawStream>,
        what: &'static str,
        rule: Option<Omission>,
    ) -> DriverResult<()> {
        if !self.is_on() || self.state.try_lock().is_some_and(|state| is_beside(&state, thread())) {
            return Ok(());
        }
        let disturbed = self.with(|state, who| {
            let is_beside = is_beside(state, who.0);
            state.disturb(&self.below, who, what, rule, is_beside)?;
            stream.map_or(Ok(()), |stream| state.settle(&self.below, stream))
        });
        disturbed.unwrap_or(Ok(()))
    }

    /// Retires the graphs that name memory before it is given back, also while no run replays: the next run would launch them.
    pub(super) fn give_back(&self, range: MemoryRange) -> DriverResult<()> {
        self.with(|state, _| state.give_back(&self.below, range)).unwrap_or(Ok(()))
    }

    /// Notes that work was queued on a stream by a call that was made directly, or that no trace can have. A run may have begun
    /// during the call.
    #[inline]
    pub(super) fn queued<R>(&self, stream: RawStream, done: R) -> R {
        if self.is_on() {
            self.mark_queued(stream);
        }
        done
    }

    #[inline(never)]
    fn mark_queued(&self, stream: RawStream) {
        match self.state.try_lock() {
            Some(mut state) => state.mark_queued(stream),
            None => {
                self.with(|state, _| state.mark_queued(stream));
            }
        }
    }

    /// Turns the switch off after the last run, if all launches are complete.
    pub(super) fn rest(&self, state: &mut State, may_ask: bool) -> DriverResult<()> {
        if state.is_resting && state.rest(&self.below, may_ask)? {
            state.is_resting = false;
            self.switch.turn_off();
        }
        Ok(())
    }

    /// As [`rest`](Self::rest), during an unrelated call: an error is logged, and not returned to the caller. The end of the next
    /// run tries again.
    #[inline]
    pub(super) fn rest_by_now(&self, state: &mut State, may_ask: bool) {
        if state.is_resting
            && let Err(error) = self.rest(state, may_ask)
        {
            state.is_resting = false;
            log::write(move || {
                tracing::warn!(%error, "graphs of runs that have ended could not be asked for their progress: calls stay slower");
            });
        }
    }
}
