//! Queries and waits of the host. The held-back calls are launched as a graph or sent before the answer.

use super::Replaying;
use super::entry::thread;
use super::outside::Awaited;
use super::state::State;
use crate::driver::{Driver, DriverResult, RawEvent, RawStream};

/// The object that the host queries or waits for.
#[derive(Clone, Copy)]
pub(super) enum Asked {
    Stream(RawStream),
    Event(RawEvent),
}

/// A guard of a thread that waits for lanes' events and is counted in `State::waiting`. The drop ends the count, even if the
/// wait unwinds.
struct Waiting<'a, D: Driver>(&'a Replaying<D>);

impl<D: Driver> Drop for Waiting<'_, D> {
    fn drop(&mut self) {
        self.0.with(|state, _| state.waiting -= 1);
    }
}

impl<D: Driver> Replaying<D> {
    /// Prepares a query or a wait of the host. `ask` gets the state and the number of the launch that the answer depends on.
    /// Returns `None` if the answer depends on no launch.
    pub(super) fn answer<R>(
        &self,
        asked: Asked,
        ask: impl Fn(&mut State, u64) -> DriverResult<R>,
    ) -> DriverResult<Option<R>> {
        let is_beside = |state: &State, thread| match asked {
            Asked::Stream(stream) => state.is_beside(thread, Some(stream)),
            Asked::Event(event) => state.is_idle(thread) && state.is_sent(event),
        };
        if self.state.try_lock().is_some_and(|state| is_beside(&state, thread())) {
            return Ok(None);
        }
        let answered = self.with_bodies(|state, (thread, _)| {
            self.rest_by_now(state, true);
            let is_beside = is_beside(state, thread);
            state.before_answer(&self.below, thread, is_beside)?;
            let launch = match asked {
                Asked::Stream(stream) => Self::open_launch(state, stream),
                Asked::Event(event) => state.launch_of(event),
            };
            match launch {
                0 => Ok(None),
                number => ask(state, number).map(Some),
            }
        });
        answered.unwrap_or(Ok(None))
    }

    /// Waits for the records in `list`, without the state's lock. [`State::awaited`] has counted this thread in
    /// `State::waiting`.
    pub(super) fn wait_for(&self, list: &Awaited) -> DriverResult<()> {
        let _waiting = Waiting(self);
        for &(_, _, event) in list {
            // SAFETY: the event is a lane's, and no lane is destroyed while a thread is counted as waiting.
            unsafe { self.below.synchronize_event(event) }?;
        }
        self.with(|state, _| state.mark_complete(list));
        Ok(())
    }

    /// The number of the latest launch with work of a stream; 0 if the stream already comes after that launch.
    pub(super) fn open_launch(state: &mut State, stream: RawStream) -> u64 {
        let known = state.stream(stream);
        if known.tail > known.joined { known.tail } else { 0 }
    }
}
