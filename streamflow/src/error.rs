//! Law 10: No fallback is silent.
//!
//! What can go wrong: one type, each variant saying who, what and what to do. A call that can't do what it was
//! asked for returns one of these, and does nothing else instead.

mod exploration;
mod panics;

pub use exploration::{Exploration, Failing, Limit, Stopped};
pub(crate) use panics::{caught_as_error, drop_all};

use crate::driver::{DeviceId, DriverError, RaceReports};

/// What streamflow's calls return.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a call failed.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The driver said no.
    #[error(transparent)]
    Driver(#[from] DriverError),

    /// All streams of a pool are lent.
    #[error(
        "stream pool `{pool}` is exhausted: `{who}` asked for a stream, but all {max_size} are held by {}; \
         raise `max_size`, or drop streams earlier",
        list(holders)
    )]
    PoolExhausted {
        /// The pool's name.
        pool: String,
        /// Who asked.
        who: String,
        /// How many streams the pool may lend.
        max_size: u32,
        /// Who holds them.
        holders: Vec<String>,
    },

    /// All blocks of an allocator with a fixed number of them are lent.
    #[error(
        "block pool `{pool}` is exhausted: `{who}` asked for a block, but all {blocks} are in use{}; \
         it would need at least {}: raise its number of blocks, or drop tensors earlier",
        allocated_for(holders), .blocks.saturating_add(1)
    )]
    BlocksExhausted {
        /// The allocator's name.
        pool: String,
        /// Who asked.
        who: String,
        /// How many blocks it has.
        blocks: u64,
        /// For whose streams how many of them were allocated. Who keeps them now may be another.
        holders: Vec<(String, usize)>,
    },

    /// A tensor or buffer is larger than the blocks of its allocator.
    #[error(
        "block pool `{pool}` has blocks of {block_bytes} bytes, but {requested} were asked for; make \
         its blocks at least that large"
    )]
    BlockSize {
        /// The allocator's name.
        pool: String,
        /// The size of its blocks.
        block_bytes: u64,
        /// What was asked for.
        requested: u64,
    },

    /// An allocator has as much memory as it may have.
    #[error(
        "allocator `{pool}` is exhausted: `{who}` asked for {requested} bytes, but {used} of {max_size} \
         are in use{}; it would need at least {}: raise `max_size`, or drop tensors earlier",
        allocated_for(holders), .used.saturating_add(*.requested)
    )]
    MemoryExhausted {
        /// The allocator's name.
        pool: String,
        /// Who asked.
        who: String,
        /// What was asked for, rounded up.
        requested: u64,
        /// How much of it is in use.
        used: u64,
        /// How much it may have.
        max_size: u64,
        /// For whose streams how many tensors and buffers were allocated. Who keeps them now may be
        /// another.
        holders: Vec<(String, usize)>,
    },

    /// A device was named that the platform does not have.
    #[error("{who} names {device}, but the platform has {devices} device(s), numbered from 0")]
    NoSuchDevice {
        /// What names it.
        who: String,
        /// The device.
        device: DeviceId,
        /// How many there are.
        devices: usize,
    },

    /// Something of one platform was used with another.
    #[error(
        "{what} belongs to another platform; streams, points and memory can't be shared between platforms"
    )]
    ForeignPlatform {
        /// What it is.
        what: String,
    },

    /// Memory of one device was used on a stream of another.
    #[error(
        "{what} is on {memory}, but the stream is on {stream}; take a stream of {memory}, or copy the \
         data to {stream}: `#[transfer]` at an edge, else `copy_peer`"
    )]
    WrongDevice {
        /// What it is.
        what: String,
        /// Where the memory is.
        memory: DeviceId,
        /// Where the stream executes.
        stream: DeviceId,
    },

    /// A device can't be divided as it was asked to.
    #[error("{device} can't be divided into partitions of {asked:?} multiprocessors: {problem}")]
    GreenContexts {
        /// The device.
        device: DeviceId,
        /// How many multiprocessors each partition was to have.
        asked: Vec<u32>,
        /// What is wrong, and which sizes are legal.
        problem: String,
        /// What the driver said, where it is the one who refused.
        cause: Option<Box<DriverError>>,
    },

    /// Two moments have no time between them.
    #[error(
        "this time span can't be measured: {problem}; take two moments of one device, in order"
    )]
    TimeSpan {
        /// What is wrong.
        problem: String,
    },

    /// Two lengths that must be the same are not.
    #[error(
        "{what}: the source has {source_len} elements, but the target has {target_len}; they must be equal"
    )]
    LengthMismatch {
        /// What was asked for.
        what: &'static str,
        /// Elements of the source.
        source_len: usize,
        /// Elements of the target.
        target_len: usize,
    },

    /// A shape whose size does not fit into memory's addresses, or with too many dimensions.
    #[error("the shape {shape:?} is too large: {reason}")]
    Shape {
        /// The shape.
        shape: Vec<usize>,
        /// Why it can't be.
        reason: &'static str,
    },

    /// A view with gaps was used where dense memory is needed.
    #[error(
        "a view of shape {shape:?} with strides {strides:?} is not contiguous; copy it into a tensor of its own first"
    )]
    Strided {
        /// The view's shape.
        shape: Vec<usize>,
        /// The view's strides, in elements.
        strides: Vec<usize>,
    },

    /// An operator ran and did not say what becomes of a message.
    #[error(
        "`{node}.{port}` has a message, but `{node}` neither received, left nor discarded it; call \
         `receive()`, `leave()` or `discard()` on the input in every tick"
    )]
    Unhandled {
        /// The node.
        node: String,
        /// The input.
        port: &'static str,
    },

    /// A node that adopts the stream of a message has none yet.
    #[error(
        "`{node}` has no stream{}: its node is marked `#[streams(none)]`, or it wrote `adopt()` or \
         `or_adopt()`, so it adopts the first stream that comes with a message, and none has come; \
         receive a required input first, write `.or_default()`, or name a pool that has a stream",
        .exhausted.as_ref().map(|pool| format!(", and its pool `{pool}` is exhausted")).unwrap_or_default()
    )]
    NothingToAdopt {
        /// The node.
        node: String,
        /// The pool that it would have had one of, if it wrote `or_adopt()`.
        exhausted: Option<String>,
    },

    /// Device data was opened on a stream that does not wait for all that it came with.
    #[error(
        "`{node}.{port}` came with a stream that `synchronize_streams` was not given; pass all that \
         `streams()` names"
    )]
    NotSynchronized {
        /// The node.
        node: String,
        /// The input.
        port: &'static str,
    },

    /// Device data was to be emitted by an operator that has no stream to emit it on.
    #[error(
        "`{node}.{port}` emits device data, but `{node}` has received no stream; call \
         `receive_cuda_stream` on one of its inputs, or choose a stream with `set_cuda_stream`"
    )]
    NoStream {
        /// The node.
        node: String,
        /// The output.
        port: String,
    },

    /// A stream was asked for by an operator without a pool.
    #[error(
        "`{node}` asked for its stream `{stream}`, but it has no pool: its node is marked \
         `#[streams(none)]`; name a pool there"
    )]
    NoPool {
        /// The node.
        node: String,
        /// The stream's name.
        stream: String,
    },

    /// What was made for one stream was used on another.
    #[error(
        "what was made for stream {made_for} was used on stream {used_on}; make another one for that stream"
    )]
    OtherStream {
        /// The stream's number that it was made for.
        made_for: u32,
        /// The stream's number that it was used on.
        used_on: u32,
    },

    /// An edge with the policy `fault` had no room for a message. Nothing was sent.
    #[error(
        "the queue of `{edge}` is full: it holds {capacity}, and its policy is `fault`; let its \
         consumer keep up, raise `#[capacity(…)]`, or choose another policy: `pop` and `reject` drop \
         a message, and without `#[policy(…)]` the producer waits"
    )]
    QueueFull {
        /// The edge.
        edge: &'static str,
        /// How many messages it holds.
        capacity: usize,
    },

    /// An edge that was to hold 0 messages.
    #[error("`{edge}` is to hold 0 messages: `capacity(n)` takes at least 1")]
    CapacityZero {
        /// The edge.
        edge: &'static str,
    },

    /// A graph is run again, but an edge with `#[feedback]` carried no message out of the run before.
    #[error(
        "nothing waits at `{edge}`, where this run would begin: the run before ended between taking a \
         message there and sending the next; make the graph anew"
    )]
    FeedbackLost {
        /// The edge.
        edge: &'static str,
    },

    /// A node that was to run 0 times.
    #[error("`{node}` is to run 0 times: `count(n)` takes at least 1")]
    CountZero {
        /// The node.
        node: String,
    },

    /// An operator's hook failed.
    #[error("operator `{node}` failed in `{hook}`, tick {tick}: {cause}")]
    Operator {
        /// The node.
        node: String,
        /// `start`, `compute` or `stop`.
        hook: &'static str,
        /// The tick, from 0.
        tick: u64,
        /// Why.
        cause: Box<Error>,
    },

    /// An operator panicked.
    #[error("it panicked: {message}")]
    Panicked {
        /// What it said.
        message: String,
    },

    /// A run ended by an error, and ending it met more of them.
    #[error("{cause}; while the graph was being stopped, {} more error(s) followed: {}", followed.len(), texts(followed))]
    Run {
        /// The first error.
        cause: Box<Error>,
        /// What followed, in order.
        followed: Vec<Error>,
    },

    /// Work that nothing orders touched the same memory: what the [race checker](crate::driver::race)
    /// found.
    #[error("{0}")]
    Races(RaceReports),

    /// An error of the user's.
    #[error("{0}")]
    Other(String),

    /// An environment variable holds something that can't be read.
    #[error("the environment variable {name} is {value:?}: {expected}")]
    Variable {
        /// The variable.
        name: &'static str,
        /// What it holds.
        value: String,
        /// What to do.
        expected: &'static str,
    },

    /// A test failed under one of the orders of execution that were tried, or not all could be tried.
    #[error("{0}")]
    Explored(Box<Exploration>),

    /// In a test that is explored, a thread can't be given turns: see [`testing::scope`](crate::testing::scope).
    #[error("thread `{thread}` {problem}")]
    Thread {
        /// Its name, or its number, or where it was spawned.
        thread: String,
        /// What is wrong, and what to do.
        problem: String,
    },

    /// A kernel's `requires(…)` does not hold for the arguments of a launch. Nothing was launched.
    #[error("kernel `{kernel}` requires `{requirement}`, which these arguments break: {values}")]
    KernelRequirement {
        /// The kernel.
        kernel: &'static str,
        /// The condition as its author wrote it.
        requirement: &'static str,
        /// Every length and every scalar of the launch, as `a.len() = 3, cols = 4`.
        values: String,
    },

    /// A grid is impossible on any device, or for this kernel. Nothing was launched.
    #[error("kernel `{kernel}` cannot be launched with this grid: {problem}")]
    Grid {
        /// The kernel.
        kernel: String,
        /// Which limit is broken, by how much, and what to do.
        problem: String,
    },

    /// A kernel used an index outside of an argument. Only found when `STREAMFLOW_CHECK_BOUNDS=1`.
    #[error(
        "kernel `{kernel}` used `{argument}[{index}]`, but `{argument}` has {length} elements; \
         the access was diverted, so the results of this launch are wrong"
    )]
    OutOfBounds {
        /// The kernel.
        kernel: String,
        /// The argument's name.
        argument: String,
        /// The index, in elements; negative indices are told as such.
        index: i64,
        /// The argument's length in elements.
        length: u64,
    },
}

/// The text, as [`Display`](std::fmt::Display) has it: it is what `main` shows when it returns an error.
impl std::fmt::Debug for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

impl Error {
    /// An error of your own, told by its text.
    pub fn other(error: impl std::fmt::Display) -> Self {
        Self::Other(error.to_string())
    }

    /// Out of line: each launch could be the one that makes it.
    #[cold]
    #[inline(never)]
    pub(crate) fn foreign(what: &str) -> Self {
        Self::ForeignPlatform { what: what.to_owned() }
    }
}

fn texts(errors: &[Error]) -> String {
    errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

/// Of memory that is in use only this is known, and not where messages have carried it.
fn allocated_for(holders: &[(String, usize)]) -> String {
    if holders.is_empty() {
        return String::new();
    }
    let each = holders.iter().map(|(holder, count)| format!("`{holder}` ({count})"));
    let each = each.collect::<Vec<_>>().join(", ");
    format!(", allocated for the streams {each}, whoever keeps them now")
}

fn list(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
