//! Programs of streams and memory without graphs, on one or several threads.

/// The number of parts of each buffer.
pub(crate) const PARTS: usize = 4;

/// The number of buffers that a thread can own.
pub(crate) const SLOTS: usize = 3;

/// The maximum number of threads.
pub(crate) const THREADS: usize = 4;

/// A program of rounds. In each round, threads get parts of the buffers, and streams.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Threads {
    /// The buffers' lengths.
    pub(crate) lens: Vec<usize>,
    /// The number of streams. In round `r`, stream `i` belongs to thread `i + r`.
    pub(crate) streams: usize,
    pub(crate) rounds: Vec<Round>,
}

impl Threads {
    /// The same without exchanges of memory with other code.
    pub(crate) fn without_other_code(&self) -> Self {
        let mut fewer = self.clone();
        for steps in fewer.rounds.iter_mut().flat_map(|round| &mut round.threads) {
            steps.retain(|step| !matches!(step.act, Action::Lend(_) | Action::Adopt(..)));
        }
        fewer
    }
}

/// Threads that run at the same time. A single one runs on the main thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Round {
    /// The buffers that are dropped and made again before the round.
    pub(crate) renewed: Vec<usize>,
    /// The split of each buffer.
    pub(crate) splits: Vec<Split>,
    /// The steps of each thread.
    pub(crate) threads: Vec<Vec<Step>>,
}

/// How a buffer is split, and the owner of each part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Split {
    /// The ends of all parts but the last.
    pub(crate) cuts: [usize; PARTS - 1],
    pub(crate) owners: [Owner; PARTS],
}

/// The threads that may use a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Owner {
    /// A single thread. This thread may also write.
    Thread(usize),
    /// All threads may read.
    All,
}

/// A call on a part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) on: On,
    pub(crate) act: Action,
    /// Makes this call's result differ from the results of other calls.
    pub(crate) tag: u32,
    /// Whether its kernel is slow on a GPU.
    pub(crate) slow: bool,
}

/// The stream of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum On {
    /// A stream of the thread's own; the default stream if it has none.
    Own(usize),
    /// The default stream. Each thread has a handle of it.
    Default,
    /// A stream that is allocated from the pool for this call only.
    Fresh,
}

/// An operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// A part of a buffer.
    Part(usize, usize),
    /// The thread's own buffer in that slot, if there is one.
    Slot(usize),
}

/// The action of a step. A step is skipped if its memory is absent or belongs to another thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
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
    Download(Place, DownloadUse),
    /// Compares all kept downloads that are complete.
    Look,
    /// Waits for the oldest kept download.
    Await,
    /// Drops the oldest kept download.
    Forget,
    Record,
    /// Waits for the point that was recorded this many points ago by any thread.
    Wait(usize),
    IsComplete,
    Synchronize,
    /// A new buffer replaces the one in the slot.
    New(usize, usize),
    Free(usize),
    /// Other code writes the slot's buffer.
    Lend(usize),
    /// Memory of other code replaces the slot's buffer.
    Adopt(usize, usize),
    /// Hands the slot's buffer to other threads.
    Hand(usize),
    Take(usize),
}

/// The fate of a download.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DownloadUse {
    Awaited,
    Kept,
    Dropped,
}

impl Action {
    /// The memory that it writes, and the memory that it reads.
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

    /// Whether thread `thread` may do that in a round, as far as the plan shows.
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
