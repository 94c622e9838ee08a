//! Random programs of streams and memory without graphs, on one or several threads.

/// Into how many parts each buffer is split.
pub(crate) const PARTS: usize = 4;

/// How many buffers a thread can own.
pub(crate) const SLOTS: usize = 3;

/// How many threads a program has at most.
pub(crate) const THREADS: usize = 4;

/// A program of rounds. In each round, threads get parts of the buffers, and streams.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Threads {
    /// The length of each buffer.
    pub(crate) lens: Vec<usize>,
    /// The number of streams. In round `r`, stream `i` belongs to thread `i + r`.
    pub(crate) streams: usize,
    pub(crate) rounds: Vec<Round>,
}

impl Threads {
    /// Returns the same program without exchanges of memory with other code.
    pub(crate) fn without_other_code(&self) -> Self {
        let mut fewer = self.clone();
        for steps in fewer.rounds.iter_mut().flat_map(|round| &mut round.threads) {
            steps.retain(|step| !matches!(step.act, Action::Lend(_) | Action::Adopt(..)));
        }
        fewer
    }
}

/// A round: threads that run at the same time. A single thread is the main thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Round {
    /// The buffers that are dropped and made again before the round.
    pub(crate) renewed: Vec<usize>,
    /// For each buffer, how it is split.
    pub(crate) splits: Vec<Split>,
    /// For each thread, its steps.
    pub(crate) threads: Vec<Vec<Step>>,
}

/// How a buffer is split, and which thread owns each part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Split {
    /// The index at which each part ends, except for the last part.
    pub(crate) cuts: [usize; PARTS - 1],
    pub(crate) owners: [Owner; PARTS],
}

/// Which threads may use a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Owner {
    /// Only this thread, which may also write.
    Thread(usize),
    /// All threads, which may only read.
    All,
}

/// A call of a thread on memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) on: On,
    pub(crate) act: Action,
    /// Makes this call's result differ from the results of other calls.
    pub(crate) tag: u32,
    /// Whether the call's kernel is slow on a GPU.
    pub(crate) slow: bool,
}

/// The stream on which a call works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum On {
    /// One of the thread's own streams, or the default stream if the thread has none.
    Own(usize),
    /// The default stream. Each thread has a handle to it.
    Default,
    /// A stream that is allocated from the pool for this call only.
    Fresh,
}

/// Memory that a call uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// A part of a buffer: the indices of the buffer and of the part.
    Part(usize, usize),
    /// The thread's own buffer in that slot, if there is one.
    Slot(usize),
}

/// What a step does. A step is skipped if its memory is absent or belongs to another thread.
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
    /// Waits for the oldest download that the thread has kept.
    Await,
    /// Drops the oldest download that the thread has kept.
    Forget,
    Record,
    /// Waits for the point that was recorded this many points ago by any thread.
    Wait(usize),
    IsComplete,
    Synchronize,
    /// Allocates a new buffer, which replaces the buffer in the slot.
    New(usize, usize),
    Free(usize),
    /// Lends the slot's buffer to other code, which writes it.
    Lend(usize),
    /// Adopts memory of other code, which replaces the slot's buffer.
    Adopt(usize, usize),
    /// Hands the slot's buffer over to other threads.
    Hand(usize),
    Take(usize),
}

/// What happens to a download.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DownloadUse {
    Awaited,
    Kept,
    Dropped,
}

impl Action {
    /// Returns the memory that the action writes, and the memory that it reads.
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

    /// Whether the thread may do this action in a round, as far as the plan alone can tell.
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
