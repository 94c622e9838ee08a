//! Explains why a run did not need a dropped wait, from its log.

use streamflow::driver::RawStream;
use streamflow_tests::layers::mutate::{Log, LogStep};

use super::order::{Clock, Record, Replay, merge};
use super::remembered::Remembered;

/// Why a run did not need the waits that a mutation has dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Unneeded {
    /// The mutation has dropped no wait.
    NoWait,
    /// Each dropped wait was needed when it was issued, but a later wait of the same stream implies it before the
    /// stream is used again. This happens where a tick receives a message, and then another message that was sent
    /// after it. Waits are issued at once, so the runtime can't foresee the second wait when it issues the first.
    Overtaken,
    /// Some dropped waits repeat a wait that the stream's clock has forgotten, since another stream has taken its
    /// entry.
    Forgotten,
    /// Some dropped waits have none of these reasons.
    Unexplained,
}

fn covers(mine: &Clock, other: &Clock) -> bool {
    other.iter().enumerate().all(|(i, of)| mine.get(i).unwrap_or(&0) >= of)
}

/// The state of the explanation after a part of the log.
#[derive(Default)]
struct Explanation {
    replay: Replay,
    remembered: Remembered,
    /// The records that dropped waits were for, if those waits were needed.
    pending: Vec<(usize, Clock)>,
}

impl Explanation {
    /// Replays one step of the log. Returns the reason of a dropped wait, if it is known by then, and the stream that
    /// the step uses.
    fn step(&mut self, log: &Log, step: &LogStep) -> (Unneeded, Option<usize>) {
        let replay = &mut self.replay;
        let used = match step {
            LogStep::Wait { event, stream, dropped } => {
                let index = replay.submit(*stream);
                let Some(Record { clock, .. }) = replay.events.get(event) else {
                    return (Unneeded::NoWait, None);
                };
                let is_remembered = self.remembered.wait(log, *stream, *event);
                if !dropped {
                    merge(&mut replay.streams[index], clock);
                    return (Unneeded::NoWait, None);
                }
                if !covers(&replay.streams[index], clock) {
                    self.pending.push((index, clock.clone()));
                    return (Unneeded::Overtaken, None);
                }
                let reason =
                    if is_remembered { Unneeded::Unexplained } else { Unneeded::Forgotten };
                return (reason, None);
            }
            LogStep::Work { stream, what, accesses } => {
                replay.memory_step(*stream, what, accesses);
                Some(*stream)
            }
            LogStep::Free { stream, accesses, .. } => {
                replay.memory_step(*stream, "free", accesses);
                Some(*stream)
            }
            LogStep::Record { event, stream, .. } => {
                let index = replay.submit(*stream);
                replay.record(*event, index, true);
                self.remembered.record(*stream, *event);
                Some(*stream)
            }
            LogStep::EventComplete { event, .. } => {
                replay.found_event_complete(*event);
                None
            }
            LogStep::StreamComplete { stream, .. } => {
                replay.found_stream_complete(*stream);
                Some(*stream)
            }
            LogStep::Relies { on, record, by } => {
                replay.rely(*on, *record, *by);
                by.iter().for_each(|by| {
                    self.remembered.raise(log, *by, *on);
                });
                None
            }
            LogStep::Joined => {
                replay.joined();
                None
            }
            LogStep::Host { .. } => None,
        };
        (Unneeded::NoWait, used.map(|stream: RawStream| replay.stream(stream)))
    }
}

/// Explains why the run did not need the waits that were dropped in it.
pub(crate) fn explain(log: &Log) -> Unneeded {
    let mut state = Explanation::default();
    let mut reason = Unneeded::NoWait;
    for (thread, step) in log.steps() {
        state.replay.set_thread(*thread);
        let (of_step, used) = state.step(log, step);
        reason = reason.max(of_step);
        if let Some(used) = used {
            let mine = &state.replay.streams[used];
            let is_missing =
                |(stream, record): &(usize, Clock)| *stream == used && !covers(mine, record);
            if state.pending.iter().any(is_missing) {
                return Unneeded::Unexplained;
            }
            state.pending.retain(|(stream, _)| *stream != used);
        }
    }
    reason
}
