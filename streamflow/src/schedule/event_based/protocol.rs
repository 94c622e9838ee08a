//! The order in which a worker's thread calls the board and sleeps, without hooks, devices and real time. The models
//! in `tests/models` execute this file: a lost wake-up is a deadlock there.
//!
//! In all three functions, the thread reads the count of the signal on which it may sleep before it calls the board. So a
//! change that the board's answer did not include ends the sleep at once.

use super::board::Board;
use super::core::{Looked, Next, NodeId, WorkerId};
use crate::driver::Signal;

/// The actions of a worker's thread. [`work`] calls them between its calls of the board.
pub(super) trait Thread {
    type Error;

    /// Obeys the commands of the run. Returns `false` if the thread is to end.
    fn obeys(&self, looked: &mut Option<(NodeId, Looked)>) -> Result<bool, Self::Error>;

    /// Whether the thread has spun for long enough to park.
    fn has_spun(&self) -> bool;

    fn look(&mut self, node: NodeId) -> Result<Looked, Self::Error>;

    /// Finds out whether a `flush` is due, an edge gives way or the run is over, since nodes have ended.
    fn ask(&mut self);

    /// Polls by [`poll`], until there is something else to do.
    fn poll(&mut self) -> Result<(), Self::Error>;

    /// Checks once whether the waits of nodes have ended.
    fn check(&mut self) -> Result<(), Self::Error>;

    /// Waits a bit, at most until the board's epoch differs from this one.
    fn spin(&mut self, epoch: u64);

    /// Sleeps, unless the bell was raised since its count was `seen`.
    fn park(&mut self, bell: &Signal, seen: u64) -> Result<(), Self::Error>;
}

/// Asks the board for the next action and does it, until the run is over. `looked` has the result of the last look
/// until the board is told of it.
pub(super) fn work<T: Thread>(
    board: &Board,
    me: WorkerId,
    looked: &mut Option<(NodeId, Looked)>,
    thread: &mut T,
) -> Result<(), T::Error> {
    while thread.obeys(looked)? {
        let (bell, epoch) = (board.bell(me), board.epoch());
        let seen = bell.raised();
        match board.next(me, looked.take(), thread.has_spun()) {
            Next::Look(node) => *looked = Some((node, thread.look(node)?)),
            Next::Ask => {
                thread.ask();
                board.change(|core| core.asked(me));
            }
            Next::Poll => thread.poll()?,
            Next::Check => thread.check()?,
            Next::Spin => thread.spin(epoch),
            Next::Park => thread.park(bell, seen)?,
            Next::End => return Ok(()),
        }
    }
    Ok(())
}

/// The action of the poller when nothing has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pause<S> {
    /// The poller checks again at once.
    Again,
    /// The poller has moved the simulated clock to this moment, and checks again.
    Advanced(u64),
    /// The poller sleeps.
    Sleep(S),
    /// The run is over.
    End,
}

/// The actions of the worker that polls. [`poll`] calls them between its calls of the board.
pub(super) trait Polls {
    type Error;
    type Sleep;

    /// Reads the count of the run's signal. Returns `false` if the run has a command for its workers.
    fn begin_pass(&mut self) -> bool;

    /// Finds the nodes with a wait that may have ended, among the waits of this version of the board, and queues looks
    /// at them. Returns whether there are any.
    fn find(&mut self, version: u64) -> Result<bool, Self::Error>;

    /// Decides what to do when nothing has changed. `naps_end` is the moment at which the first napping hook wakes up.
    /// `is_still`: no other hook runs, so a simulated clock may move.
    fn rest(&mut self, naps_end: Option<u64>, is_still: bool) -> Pause<Self::Sleep>;

    /// Sleeps, unless the run's signal was raised since the pass began.
    fn sleep(&mut self, sleep: Self::Sleep) -> Result<(), Self::Error>;
}

/// Polls for all nodes, until there is something else for the worker to do.
pub(super) fn poll<P: Polls>(board: &Board, me: WorkerId, polls: &mut P) -> Result<(), P::Error> {
    while polls.begin_pass() {
        let (has_news, version, is_still) =
            board.change(|core| (core.has_news_for(me), core.version(), core.is_still()));
        if has_news {
            return Ok(());
        }
        if polls.find(version)? {
            continue;
        }
        // `is_still` must hold before and after `find`: a hook in between may have changed the events that nodes wait for.
        let (naps_end, is_still) =
            board.change(|core| (core.nap_ends(), is_still && core.is_still()));
        match polls.rest(naps_end, is_still) {
            Pause::Again => {}
            Pause::Advanced(now) => board.change(|core| core.end_naps(now)),
            Pause::Sleep(sleep) => {
                if board.change(|core| core.may_sleep(me, version)) {
                    let slept = polls.sleep(sleep);
                    board.change(|core| core.awake(me));
                    slept?;
                }
            }
            Pause::End => return Ok(()),
        }
    }
    Ok(())
}

/// A simulated clock.
pub(super) trait Moves {
    fn now(&self) -> u64;

    /// Advances the clock to this moment, unless it is later already.
    fn advance_to(&self, moment: u64);
}

/// Lets a hook on this worker sleep until the moment `until`, or until the run is over. `sleep` blocks unless the bell
/// was raised since its count was the given number, and returns `false` if no thread is left that could raise the bell.
pub(super) fn nap(
    board: &Board,
    me: WorkerId,
    until: u64,
    clock: &impl Moves,
    sleep: impl Fn(&Signal, u64) -> bool,
) {
    if clock.now() >= until {
        // Returning here keeps an invariant: each worker that naps is woken before it goes on.
        return;
    }
    let bell = board.bell(me);
    let mut alone = board.change(|core| core.nap(me, until));
    loop {
        let seen = bell.raised();
        if alone {
            board.change(|core| {
                // Checks again: another worker may have moved the clock meanwhile, and may have woken a worker.
                if core.is_still()
                    && let Some(first) = core.nap_ends()
                {
                    clock.advance_to(first);
                    core.end_naps(clock.now());
                }
            });
        }
        let goes_on = board.change(|core| {
            let ends = core.is_over() || clock.now() >= until;
            if ends && core.naps(me) {
                core.get_up(me);
            }
            !ends && core.naps(me)
        });
        if !goes_on || !sleep(bell, seen) {
            return;
        }
        // If another worker has ended the nap, this worker counts as working already, and the next pass returns.
        alone = board.change(|core| core.naps(me) && core.nap(me, until));
    }
}
