//! What a node does at a moment, for other threads.
//!
//! The thread that runs a node writes one word, with plain stores, before and after each hook. Other threads read it
//! at any time, also while a hook does not return.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

/// What a node does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Activity {
    /// Its `start` was not called yet.
    NotStarted,
    /// Its `start` runs.
    Starting,
    /// It is between two ticks, and the scheduler will check it again.
    Idle,
    /// It waits for a message, or for room at an output.
    Blocked,
    /// It waits for a stream, a moment, or another thread.
    Waiting,
    /// Its `compute` runs.
    Computing,
    /// Its `stop` runs.
    Stopping,
    /// The run has ended, and waits for the work of the node's streams.
    Synchronizing,
    /// It will not run again in this run.
    Done,
    /// A hook failed.
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

    /// The name of the hook that runs, as [`Error::Operator`](crate::Error::Operator) has it; `None` if none runs.
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

/// The bits of a word that have the activity; the others have the number of ticks.
const ACTIVITY: u64 = 0xf;

/// What a node does, and how many ticks it did: written by the thread that runs it.
#[derive(Debug)]
pub struct NodeCell {
    name: String,
    word: AtomicU64,
}

/// The content of a [`NodeCell`] at a moment. Within a run, each tick of a node has another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Word(u64);

impl Word {
    pub(crate) fn ticks(self) -> u64 {
        self.0 / (ACTIVITY + 1)
    }

    pub(crate) fn activity(self) -> Activity {
        let index = usize::try_from(self.0 & ACTIVITY).unwrap_or_default();
        Activity::ALL.get(index).copied().unwrap_or(Activity::NotStarted)
    }
}

impl NodeCell {
    pub(crate) fn new(name: &str) -> Self {
        Self { name: name.to_owned(), word: AtomicU64::new(0) }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Called by the thread that runs the node.
    #[inline]
    pub(crate) fn set(&self, ticks: u64, activity: Activity) {
        self.word.store((ticks * (ACTIVITY + 1)) | activity as u64, Ordering::Relaxed);
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
        let cell = NodeCell::new("camera");
        assert_eq!(cell.word().activity(), Activity::NotStarted);
        for activity in Activity::ALL {
            cell.set(7, activity);
            assert_eq!((cell.word().ticks(), cell.word().activity()), (7, activity));
        }
        cell.set(u64::MAX / 16, Activity::Failed);
        assert_eq!(cell.word().ticks(), u64::MAX / 16);
    }
}
