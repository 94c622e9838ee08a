//! How a call gets to the state of a [`Replaying`], and the steps before and after a call that is sent.
//!
//! The code for a call that is not the next one of the trace is outside of the fast path, and the words that are compared lie
//! together in memory. Both save 40 instructions of a replayed tick of NVIDIA's CudaStreamPool example, and 11 for an operator of
//! a chain, counted by callgrind on `floor`.

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
    /// The number of the thread that makes the call.
    caller: &'a AtomicU64,
}

impl Drop for Call<'_> {
    fn drop(&mut self) {
        self.caller.store(0, Ordering::Relaxed);
    }
}

/// What the fast path has found for a call.
pub(super) enum Looked<R> {
    /// The call is held back.
    Held,
    /// The call was made directly, since it is beside all passes. With its result.
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

    /// Calls `run` with the state, and with the calling thread and its node. Returns `None` for a call from inside of another
    /// call of this driver, as a layer below may make. No kernel's Rust body executes meanwhile: the caller may hold a lock.
    pub(super) fn with<R>(&self, run: impl FnOnce(&mut State, (u64, u32)) -> R) -> Option<R> {
        let thread = thread();
        // `caller` is about this driver alone: a call of another platform's driver may make calls of this one. Only this thread
        // writes this thread's number.
        if self.caller.load(Ordering::Relaxed) == thread {
            return None;
        }
        // Created first, and so dropped last, after the lock is free: a log subscriber may call the driver.
        let _later = log::later();
        let node = self.node.load(Ordering::Relaxed) as u32;
        let held = lock::hold();
        let mut state = self.state.lock();
        self.caller.store(thread, Ordering::Relaxed);
        // The drop ends the call even if `run` unwinds: a layer below may be a user's code.
        let call = Call { caller: &self.caller };
        let done = run(&mut state, (thread, node));
        if let Err(error) = bound::restore(&self.below) {
            state.failed.get_or_insert(error);
        }
        drop(call);
        drop((state, held));
        Some(done)
    }

    /// The fast path of a call. If the call is the next one of the trace that this thread follows, it is held back. If the call
    /// is beside all passes, it is made. Returns `None` for a call that takes the slow path.
    ///
    /// `compare` gets the state and the calling node, and makes no driver call. `beside` gets the locked state. It makes the call
    /// itself if no other call may come in between.
    #[inline]
    pub(super) fn look<R>(
        &self,
        stream: RawStream,
        compare: impl FnOnce(&mut State, u32) -> bool,
        beside: impl FnOnce(&mut State) -> Option<R>,
    ) -> Option<Looked<R>> {
        // Slow path: another thread has the state, or this is a call from inside of another one.
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

    /// Takes a call that a trace can have, on the slow path. Returns whether the caller sends the call now. The stream's order is
    /// made then.
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

    /// As [`take`](Self::take), with the state already locked.
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

    /// As [`send_or_hold`](Self::send_or_hold), with the state locked from the decision to the call. Else the thread of the
    /// pass may hold back another record of the event in between, for a later launch. Returns `None` for a call from inside of
    /// another one.
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
            // `with` does this at its end, but the call is made before.
            bound::restore(&self.below)?;
            Ok(Some(send(state)))
        })?;
        Some(taken.and_then(|sent| sent.map_or(Ok(()), |done| self.sent(stream, done))))
    }

    /// Notes that a call was sent, and its result.
    fn sent(&self, stream: RawStream, done: DriverResult<()>) -> DriverResult<()> {
        self.with(|state, (thread, _)| {
            // Noted again: another thread may have launched a graph during the call.
            state.stream(stream).sent = Sent::Something;
            if done.is_err() {
                state.spoil(thread);
            }
        });
        done
    }

    /// Sends held-back calls before a call that no trace can have.
    pub(super) fn disturb(
        &self,
        stream: Option<RawStream>,
        what: &'static str,
        rule: Option<Omission>,
    ) -> DriverResult<()> {
        let is_beside = |state: &State, thread| state.is_beside(thread, stream);
        self.disturb_unless(is_beside, stream, what, rule)
    }

    /// Sends held-back calls before a call that waits for all work of the device, so for held-back work of other streams, too.
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

    /// Retires the graphs that use memory which is about to be given back. Also needed while no run replays: the next run would
    /// launch these graphs.
    pub(super) fn give_back(&self, range: MemoryRange) -> DriverResult<()> {
        self.with(|state, _| state.give_back(&self.below, range)).unwrap_or(Ok(()))
    }

    /// Notes that a call for a stream was made directly, or that no trace can have it: a run may have begun since the decision.
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

    /// As [`rest`](Self::rest), at a call of another caller, to whom the error is not returned. The end of the next run tries
    /// again.
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
