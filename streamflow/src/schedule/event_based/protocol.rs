//! The order in which a worker's thread calls the board and sleeps, without hooks, devices and real time. The models in
//! `tests/models` execute this file, where a lost wake-up shows as a deadlock.
//!
//! In all three functions, the thread reads the count of the signal on which it may sleep, and then calls the board. A change
//! that comes after the board's answer has then raised the signal since, so that the sleep ends at once.

use super::board::Board;
use super::core::{Looked, Next, NodeId, WorkerId};
use crate::driver::Signal;

/// The actions of a worker's thread, which [`work`] calls between its calls of the board.
pub(super) trait Thread {
    type Error;

    /// Obeys the command that the run has for its workers, if any. Returns `false` if the thread is to end.
    fn obeys(&self, looked: &mut Option<(NodeId, Looked)>) -> Result<bool, Self::Error>;

    /// Whether the thread has spun long enough, and may park.
    fn has_spun(&self) -> bool;

    fn look(&mut self, node: NodeId) -> Result<Looked, Self::Error>;

    /// Finds out whether a `flush` is due, an edge gives way or the run is over, since nodes have ended.
    fn ask(&mut self);

    /// Calls [`poll`], which returns when the worker has something else to do.
    fn poll(&mut self) -> Result<(), Self::Error>;

    /// Checks once whether the waits of nodes have ended.
    fn check(&mut self) -> Result<(), Self::Error>;

    /// Waits for a short time, at most until the board's epoch differs from `epoch`.
    fn spin(&mut self, epoch: u64);

    /// Sleeps until the bell is raised. Does not sleep if the bell was raised since its count was `seen`.
    fn park(&mut self, bell: &Signal, seen: u64) -> Result<(), Self::Error>;
}

/// Calls the board for the worker's next action and does it, until the run is over. `looked` has the result of the worker's last
/// look at a node until the board gets it.
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

/// What the poller does when no wait has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pause<S> {
    /// The poller checks the waits again at once.
    Again,
    /// The poller has advanced the simulated clock to this moment, and checks the waits again.
    Advanced(u64),
    /// The poller sleeps as this value says.
    Sleep(S),
    /// The run is over, and the worker returns.
    End,
}

/// The actions of the poller, which [`poll`] calls between its calls of the board.
pub(super) trait Polls {
    type Error;
    type Sleep;

    /// Reads the count of the run's signal. Returns `false` if the run has a command for its workers, so that polling ends.
    fn begin_pass(&mut self) -> bool;

    /// Among the waits in this version of the board, finds those that may have ended, and queues their nodes for looks. Returns
    /// whether there are any.
    fn find(&mut self, version: u64) -> Result<bool, Self::Error>;

    /// Decides what the poller does when no wait has ended. `naps_end` is the earliest moment at which a hook's sleep in
    /// simulated time ends. `is_still` says that no other hook runs, so that a simulated clock may advance.
    fn rest(&mut self, naps_end: Option<u64>, is_still: bool) -> Pause<Self::Sleep>;

    /// Sleeps until the run's signal is raised. Does not sleep if the signal was raised since the pass began.
    fn sleep(&mut self, sleep: Self::Sleep) -> Result<(), Self::Error>;
}

/// Polls for all nodes that wait, until the worker has something else to do.
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
        // `is_still` must hold before and after `find`, since a hook that ran meanwhile may have changed what nodes wait for.
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

/// A simulated clock, as a sleeping hook needs it.
pub(super) trait Moves {
    fn now(&self) -> u64;

    /// Advances the clock to this moment, unless its time is later already.
    fn advance_to(&self, moment: u64);
}

/// Makes a hook on this worker sleep until the moment `until`, or until the run is over. `sleep` blocks until the bell is raised,
/// unless its count differs from the given number. It returns `false` if no thread is left that could raise the bell.
pub(super) fn nap(
    board: &Board,
    me: WorkerId,
    until: u64,
    clock: &impl Moves,
    sleep: impl Fn(&Signal, u64) -> bool,
) {
    if clock.now() >= until {
        // `Core::nap` is not called here, since a worker that calls it must be woken before it goes on.
        return;
    }
    let bell = board.bell(me);
    let mut alone = board.change(|core| core.nap(me, until));
    loop {
        let seen = bell.raised();
        if alone {
            board.change(|core| {
                // Checks again, under the lock: another worker may have advanced the clock meanwhile, and may have woken a
                // worker.
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
        // If another worker has ended this sleep, `core.naps` returns `false`, and the next pass returns.
        alone = board.change(|core| core.naps(me) && core.nap(me, until));
    }
}
