//! Programs of streams and memory alone, on one thread or several.

/// Parts of each buffer.
pub(crate) const PARTS: usize = 4;

/// Buffers that a thread has for itself.
pub(crate) const SLOTS: usize = 3;

/// Threads at most.
pub(crate) const THREADS: usize = 4;

/// A program of rounds. In each, threads have parts of the buffers, and streams.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Threads {
    /// The buffers' lengths.
    pub(crate) lens: Vec<usize>,
    /// How many streams; in round `r`, stream `i` belongs to thread `i + r`.
    pub(crate) streams: usize,
    pub(crate) rounds: Vec<Round>,
}

/// Threads that run at the same time. One alone runs on the thread that owns everything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Round {
    /// Buffers that are dropped and made anew before.
    pub(crate) renewed: Vec<usize>,
    /// By buffer.
    pub(crate) splits: Vec<Split>,
    /// What each thread does.
    pub(crate) threads: Vec<Vec<Step>>,
}

/// Who has which part of a buffer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Split {
    /// Where the parts end, all but the last.
    pub(crate) cuts: [usize; PARTS - 1],
    pub(crate) owners: [Owner; PARTS],
}

/// Who may use a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Owner {
    /// One thread, which may write it.
    Thread(usize),
    /// All may read it.
    All,
}

/// One call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) on: On,
    pub(crate) act: Act,
    /// What makes the result of this call another one than those of others.
    pub(crate) tag: u32,
    /// On a GPU.
    pub(crate) slow: bool,
}

/// On which stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum On {
    /// One of the thread's own; without any, the default stream.
    Own(usize),
    /// The default stream, which every thread has a handle of.
    Default,
    /// One that is taken from the pool for this call, and given back.
    Fresh,
}

/// Memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// Part of a buffer.
    Part(usize, usize),
    /// A buffer of the thread's own, if there is one in that slot.
    Slot(usize),
}

/// What is done. What names memory that is not there, or not the thread's, is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Act {
    Make(Place),
    Map(Place, Place),
    Join(Place, Place, Place),
    Change(Place, Place),
    Both(Place, Place),
    Copy(Place, Place),
    Fill(Place),
    Upload(Place),
    UploadBlocking(Place),
    DownloadBlocking(Place),
    Download(Place, Fate),
    /// Looks at all downloads that are kept.
    Look,
    /// Waits for the oldest that is kept.
    Await,
    /// Drops the oldest that is kept.
    Forget,
    Record,
    /// For a point that was recorded so many points ago, by any thread.
    Wait(usize),
    IsComplete,
    Synchronize,
    /// A buffer, in place of the one in the slot.
    New(usize, usize),
    Free(usize),
    /// For other threads to take.
    Hand(usize),
    Take(usize),
}

/// What becomes of a download.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    Awaited,
    Kept,
    Dropped,
}

impl Act {
    /// What it writes, and then what it reads.
    pub(crate) fn places(self) -> (Vec<Place>, Vec<Place>) {
        match self {
            Self::Make(a) | Self::Fill(a) | Self::Upload(a) | Self::UploadBlocking(a) => {
                (vec![a], vec![])
            }
            Self::Map(a, b) | Self::Change(a, b) | Self::Copy(a, b) => (vec![a], vec![b]),
            Self::Join(a, b, c) => (vec![a], vec![b, c]),
            Self::Both(a, b) => (vec![a, b], vec![]),
            Self::DownloadBlocking(a) | Self::Download(a, _) => (vec![], vec![a]),
            _ => (vec![], vec![]),
        }
    }

    /// Whether thread `thread` may do that in a round, as far as can be told before.
    pub(crate) fn is_legal(self, round: &Round, thread: usize) -> bool {
        let owner = |place: &Place| match *place {
            Place::Part(buffer, part) => round.splits[buffer].owners[part],
            Place::Slot(_) => Owner::Thread(thread),
        };
        let (writes, reads) = self.places();
        let own = |place| owner(place) == Owner::Thread(thread);
        let apart = !reads.iter().any(|read| writes.contains(read))
            && (writes.len() < 2 || writes[0] != writes[1]);
        apart && writes.iter().all(own) && reads.iter().all(|at| own(at) || owner(at) == Owner::All)
    }
}
