//! The fast path and the slow path of a call through a [`Replaying`], and the steps before and after a call that is sent.
//!
//! The code for a call that differs from the next one of the trace is in functions that are not inlined, and the fields that
//! are compared are adjacent in memory. This saves 40 instructions of a replayed tick of NVIDIA's CudaStreamPool example,
//! and 11 for each operator of a chain, counted by callgrind on `floor`.

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

/// A guard of a call that has locked the state. Dropping the guard clears the caller.
struct Call<'a> {
    /// `Replaying::caller`, which has the number of the calling thread until the drop sets it to 0.
    caller: &'a AtomicU64,
}

impl Drop for Call<'_> {
    fn drop(&mut self) {
        self.caller.store(0, Ordering::Relaxed);
    }
}

/// The result of the fast path of a call.
pub(super) enum Looked<R> {
    /// The call equals the next one of the trace, and is held back.
    Held,
    /// The call depends on no pass (see [`State::is_beside`]). Contains the result of the closure `beside`, which may have
    /// made the call.
    Beside(R),
}

/// The number of the calling thread, unique among threads that live at the same time.
pub(super) fn thread() -> u64 {
    THREAD.try_with(|mark| std::ptr::from_ref(mark).addr() as u64).unwrap_or_default()
}

impl<D: Driver> Replaying<D> {
    /// As [`with`](Self::with), in a call that may execute bodies. Bodies that the simulator has postponed because of the
    /// lock execute after the lock is released.
    pub(super) fn with_bodies<R>(
        &self,
        run: impl FnOnce(&mut State, (u64, u32)) -> R,
    ) -> Option<R> {
        let done = self.with(run)?;
        self.below.observer().catch_up();
        Some(done)
    }

    /// Calls `run` with the locked state, and with the number of the calling thread and the number of the node. Returns
    /// `None` if this thread is already inside of another call of this driver, as when a layer below makes a call of its
    /// own. No body of a kernel executes inside of `run`, since the caller may hold a lock.
    pub(super) fn with<R>(&self, run: impl FnOnce(&mut State, (u64, u32)) -> R) -> Option<R> {
        let thread = thread();
        // Each driver has a `caller` of its own, since a call of another platform's driver may make calls of this driver.
        // The load is relaxed: only this thread ever stores its own number.
        if self.caller.load(Ordering::Relaxed) == thread {
            return None;
        }
        // `_later` is declared before the lock, and so dropped after it: messages of the log are written then, and their
        // subscriber may call the driver.
        let _later = log::later();
        let node = self.node.load(Ordering::Relaxed) as u32;
        let held = lock::hold();
        let mut state = self.state.lock();
        self.caller.store(thread, Ordering::Relaxed);
        // `Call` is dropped also if `run` unwinds: a layer below may be a user's code.
        let call = Call { caller: &self.caller };
        let done = run(&mut state, (thread, node));
        if let Err(error) = bound::restore(&self.below) {
            state.failed.get_or_insert(error);
        }
        drop(call);
        drop((state, held));
        Some(done)
    }

    /// The fast path of a call. The call is held back if it is the next one of the trace that this thread follows, or made
    /// directly if it depends on no pass ([`State::is_beside`]). Returns `None` for a call that must take the slow path.
    ///
    /// `compare` gets the state and the number of the calling node, and makes no driver call; it returns whether the call is
    /// the next one of the trace. `beside` makes the call itself if the state must stay locked meanwhile.
    #[inline]
    pub(super) fn look<R>(
        &self,
        stream: RawStream,
        compare: impl FnOnce(&mut State, u32) -> bool,
        beside: impl FnOnce(&mut State) -> Option<R>,
    ) -> Option<Looked<R>> {
        // The call takes the slow path if another thread has locked the state, or this thread has locked it in a call around
        // this one.
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

    /// The slow path of a call that a trace can contain. Returns whether the caller must send the call now. If so, the
    /// call's stream already comes after the launches with work of that stream (rule 1).
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

    /// As [`take`](Self::take), with the state locked by the caller.
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

    /// Makes a call that queues work: it is held back, or sent with `send`.
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

    /// The slow path of [`send_or_hold`](Self::send_or_hold).
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

    /// The slow path of a record: it is held back or sent.
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

    /// The slow path of a wait: it is held back or sent.
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

    /// The slow path of a record or a wait. The state stays locked until the call is made: between the two, the thread of
    /// the pass could otherwise hold back a newer record of the same event. Returns `None` if this thread is already inside
    /// of another call of this driver.
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
            // `with` restores the caller's bound device only at its end, and `send` already needs that device current.
            bound::restore(&self.below)?;
            Ok(Some(send(state)))
        })?;
        Some(taken.and_then(|sent| sent.map_or(Ok(()), |done| self.sent(stream, done))))
    }

    /// Notes that a call was sent to a stream, and whether it has failed.
    fn sent(&self, stream: RawStream, done: DriverResult<()>) -> DriverResult<()> {
        self.with(|state, (thread, _)| {
            // `settle` has set the same note before the call. Another thread may have launched a graph since, and the launch
            // clears the note.
            state.stream(stream).sent = Sent::Something;
            if done.is_err() {
                state.spoil(thread);
            }
        });
        done
    }

    /// Prepares for a call that no trace can contain: if the call may depend on held-back calls, they are sent first.
    pub(super) fn disturb(
        &self,
        stream: Option<RawStream>,
        what: &'static str,
        rule: Option<Omission>,
    ) -> DriverResult<()> {
        let is_beside = |state: &State, thread| state.is_beside(thread, stream);
        self.disturb_unless(is_beside, stream, what, rule)
    }

    /// Prepares for a call that waits for all work of the device: held-back calls of other streams are sent, too.
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

    /// Retires the lanes whose graphs use memory that is about to be given back. Also done while no run replays, since the
    /// next run would launch those lanes.
    pub(super) fn give_back(&self, range: MemoryRange) -> DriverResult<()> {
        self.with(|state, _| state.give_back(&self.below, range)).unwrap_or(Ok(()))
    }

    /// Notes that work was queued on a stream by a call that was made directly, or that no trace can contain. The switch is
    /// read again after the call, because a run may have begun during the call.
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

    /// Turns the switch off after the end of the last run, if all launches are complete.
    pub(super) fn rest(&self, state: &mut State, may_ask: bool) -> DriverResult<()> {
        if state.is_resting && state.rest(&self.below, may_ask)? {
            state.is_resting = false;
            self.switch.turn_off();
        }
        Ok(())
    }

    /// As [`rest`](Self::rest), as a part of an unrelated call: an error is logged, and not returned. The end of the next
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
