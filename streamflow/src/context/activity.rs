//! `Activity`: what a node does at a moment, for other threads.
//!
//! The thread that runs a node stores the activity in one atomic word before and after each hook, without a lock. Other threads
//! can read the word at any time, even if a hook never returns.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

/// What a node does at a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Activity {
    /// The operator's `start` was not called yet.
    NotStarted,
    /// The operator's `start` is running.
    Starting,
    /// The node is between two ticks. The scheduler will check whether it can run.
    Idle,
    /// The node waits for a message, or for room at an output.
    Blocked,
    /// The node waits for a stream, a moment, or another thread.
    Waiting,
    /// The operator's `compute` or `flush` is running.
    Computing,
    /// The operator's `stop` is running.
    Stopping,
    /// The run has ended, and its thread waits for the work on the node's streams.
    Synchronizing,
    /// The node will not run again in this run.
    Done,
    /// A hook of the operator has failed.
    Failed,
}

impl Activity {
    const ALL: [Self; 10] = [
        Self::NotStarted,
        Self::Starting,
        Self::Idle,
        Self::Blocked,
        Self::Waiting,
        Self::Computing,
        Self::Stopping,
        Self::Synchronizing,
        Self::Done,
        Self::Failed,
    ];

    /// Returns the name of the hook that is running, as in [`Error::Operator`](crate::Error::Operator); `None` if no hook is
    /// running.
    pub const fn hook(self) -> Option<&'static str> {
        match self {
            Self::Starting => Some("start"),
            Self::Computing => Some("compute"),
            Self::Stopping => Some("stop"),
            Self::Synchronizing => Some("synchronize"),
            _ => None,
        }
    }
}

impl fmt::Display for Activity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotStarted => "not started",
            Self::Starting => "in `start`",
            Self::Idle => "idle",
            Self::Blocked => "waits for a message or for room",
            Self::Waiting => "waits for a stream, a moment or a thread",
            Self::Computing => "in `compute`",
            Self::Stopping => "in `stop`",
            Self::Synchronizing => "waits for its device work at the end",
            Self::Done => "done",
            Self::Failed => "failed",
        })
    }
}

/// The bits of a node's word that have its activity.
const ACTIVITY: u64 = 0xf;

/// The bits of a node's word that have the number of a condition, from 1; 0 means no condition. The higher bits have the number
/// of ticks.
const CONDITION: u64 = 0xff0;

/// What other threads may read of a node: its name, its activity and the number of its ticks. The thread that runs the node
/// writes the word.
#[derive(Debug)]
pub struct NodeCell {
    name: String,
    /// The conditions of the node other than `count`, as the user wrote them in `#[when(…)]`.
    conditions: Box<[&'static str]>,
    word: AtomicU64,
}

/// The word of a [`NodeCell`], read at a moment. Within a run, it is different after each tick of the node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Word(u64);

impl Word {
    pub(crate) fn ticks(self) -> u64 {
        self.0 / ((ACTIVITY | CONDITION) + 1)
    }

    fn condition(self) -> Option<usize> {
        let number = (self.0 & CONDITION) / (ACTIVITY + 1);
        usize::try_from(number).ok()?.checked_sub(1)
    }

    pub(crate) fn activity(self) -> Activity {
        let index = usize::try_from(self.0 & ACTIVITY).unwrap_or_default();
        Activity::ALL.get(index).copied().unwrap_or(Activity::NotStarted)
    }
}

impl NodeCell {
    pub(crate) fn new(name: &str, conditions: Box<[&'static str]>) -> Self {
        Self { name: name.to_owned(), conditions, word: AtomicU64::new(0) }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn conditions(&self) -> &[&'static str] {
        &self.conditions
    }

    /// Returns the condition for which the node waits, or which has ended it, by the number in `word`.
    pub(crate) fn condition(&self, word: Word) -> Option<&'static str> {
        self.conditions.get(word.condition()?).copied()
    }

    /// Sets the word. Only the thread that runs the node calls this function. `condition` is the number of a condition, from 1,
    /// or 0.
    #[inline]
    pub(crate) fn set(&self, ticks: u64, activity: Activity, condition: u8) {
        let ticks = ticks * ((ACTIVITY | CONDITION) + 1);
        let condition = u64::from(condition) * (ACTIVITY + 1);
        self.word.store(ticks | condition | activity as u64, Ordering::Relaxed);
    }

    pub(crate) fn word(&self) -> Word {
        Word(self.word.load(Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_has_the_activity_and_the_ticks() {
        let cell = NodeCell::new("camera", ["one"; 255].into());
        assert_eq!(cell.word().activity(), Activity::NotStarted);
        for activity in Activity::ALL {
            cell.set(7, activity, 0);
            assert_eq!((cell.word().ticks(), cell.word().activity()), (7, activity));
        }
        cell.set(u64::MAX / 4096, Activity::Failed, 255);
        assert_eq!(
            (cell.word().ticks(), cell.word().activity()),
            (u64::MAX / 4096, Activity::Failed)
        );
        assert_eq!(cell.word().condition(), Some(254));
    }

    #[test]
    fn a_word_names_the_condition_by_its_number() {
        let cell = NodeCell::new("camera", ["periodic(20ms)", "boolean(handle)"].into());
        let named = [0, 1, 2, 3].map(|number| {
            cell.set(0, Activity::Waiting, number);
            cell.condition(cell.word())
        });
        assert_eq!(named, [None, Some("periodic(20ms)"), Some("boolean(handle)"), None]);
    }
}
