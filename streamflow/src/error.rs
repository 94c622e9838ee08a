//! Law 10: No fallback is silent.
//!
//! The law is a rule for all code, so it has no file of its own. This file has the type of the errors that calls return in place
//! of a fallback. The text of each variant says who failed, what happened and what to do. A call that can't do its work returns
//! one of these errors, and does nothing else instead.
//!
//! # The path of an error
//!
//! The path of an error from a launch whose driver call fails to the terminal. Files of `driver` are in
//! `crates/streamflow-driver/src`:
//!
//! 1. `kernel/launch.rs`: `CudaStream::launch` checks the arguments and the grid, and passes the launch to
//!    `memory/access.rs`. That file orders and queues the launch, and notes the launch's uses of memory even if it fails.
//! 2. `driver/layer.rs` forwards the call from layer to layer; in debug builds the race checker is a layer
//!    (`driver/race/layer.rs`).
//! 3. `driver/cuda/calls.rs` calls `driver/cuda/submit.rs`, which calls CUDA. `submit.rs` adds the kernel's name and grid to
//!    an error, but not to a sticky error, which earlier work may have caused.
//! 4. `driver/cuda/error.rs` turns the code that CUDA returns into a [`DriverError`](crate::driver::DriverError); the
//!    simulator makes its errors in `driver/host`. `launch` returns the error as an [`Error::Driver`], and the operator's
//!    hook returns it by `?`, in a [`Failure`].
//! 5. `operator/node.rs` passes the error from `compute` to `operator/runner.rs`, which wraps it in an
//!    [`Error::Operator`] with node, hook and tick. A panic of the hook becomes an [`Error::Panicked`] there.
//! 6. `schedule/greedy.rs`: the run stops all nodes, and returns the error, in an
//!    [`Error::Run`] if more errors followed.
//! 7. A `main` that returns the error prints its `Debug` form: the same text as `Display`.
//!
//! A fault of a kernel is found later: the launch has succeeded, and a later call returns the error, perhaps in the hook of
//! another operator. From step 4 on, the error's path is the same. With `STREAMFLOW_BLOCKING_LAUNCHES=1`, the launch itself
//! returns the error (`driver/blocking.rs`).
//!
//! A `Drop` can't return an error. `report_in_drop`, in `driver/error.rs`, writes such an error to the log.

mod bodies;
pub(crate) mod const_text;
mod exploration;
pub(crate) mod failure;
mod names;
mod panics;
mod texts;
pub(crate) mod type_name;

#[doc(hidden)]
pub use bodies::{BodyDifference, BodyFailure, BodyProblem, KernelBody};
#[doc(hidden)]
pub use exploration::{Exploration, Failing, Limit, Stopped};
pub use failure::{Failure, IntoFailure};
pub(crate) use names::{did_you_mean, nearest};
pub(crate) use panics::{caught_as_error, drop_all, first_of, forget};
use texts::{allocated_for, errors, held_by, list, memory_option, texts};

use std::error::Error as StdError;
use std::time::Duration;

use crate::caught::caught;
use crate::driver::{DeviceId, DriverError, RaceReports, Sticky};

/// The result of streamflow's calls. The alias is private, so that rustdoc shows the type behind it. Users have another alias,
/// [`streamflow::Result`](crate::Result).
pub(crate) type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a call failed.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A call of the driver failed.
    #[error(transparent)]
    Driver(#[from] DriverError),

    /// All streams that a pool may lend are lent.
    #[error(
        "stream pool `{pool}` is exhausted: `{who}` needs a stream, but all {max_size} are held by {}; \
         raise `max_size`, or drop streams earlier",
        list(holders)
    )]
    PoolExhausted {
        /// The pool's name.
        pool: String,
        /// The operator, or the stream of an operator, that needs a stream.
        who: String,
        /// How many streams the pool may lend.
        max_size: u32,
        /// The labels of the streams that the pool has lent.
        holders: Vec<String>,
    },

    /// All blocks of an allocator with a fixed number of blocks are lent.
    #[error(
        "block pool `{pool}` is exhausted: `{who}` needs a block, but all {blocks} are in use{}; \
         give it at least {} blocks, or drop tensors earlier",
        allocated_for(holders), .blocks.saturating_add(1)
    )]
    BlocksExhausted {
        /// The allocator's name.
        pool: String,
        /// The operator, or the stream of an operator, that needs a block.
        who: String,
        /// How many blocks the allocator has.
        blocks: u64,
        /// The streams for which the blocks were allocated, each with its number of blocks. Messages may have carried the blocks
        /// to other operators since.
        holders: Vec<(String, usize)>,
    },

    /// A tensor or buffer is larger than the blocks of its allocator.
    #[error(
        "block pool `{pool}` has blocks of {block_bytes} bytes, but {requested} bytes are needed; make \
         its blocks at least that large"
    )]
    BlockSize {
        /// The allocator's name.
        pool: String,
        /// The size of the allocator's blocks.
        block_bytes: u64,
        /// The size of the tensor or buffer, in bytes.
        requested: u64,
    },

    /// An allocator has reached its limit of memory.
    #[error(
        "allocator `{pool}` is exhausted: `{who}` needs {requested} bytes, but {used} of {max_size} \
         are in use{}; raise `max_size` to at least {}, or drop tensors earlier",
        allocated_for(holders), .used.saturating_add(*.requested)
    )]
    MemoryExhausted {
        /// The allocator's name.
        pool: String,
        /// The operator, or the stream of an operator, that needs memory.
        who: String,
        /// The size of the tensor or buffer in bytes, rounded up as the allocator does.
        requested: u64,
        /// How many bytes are in use.
        used: u64,
        /// How many bytes the allocator may have.
        max_size: u64,
        /// The streams for which tensors and buffers were allocated, each with how many these are. Messages may have carried them to
        /// other operators since.
        holders: Vec<(String, usize)>,
    },

    /// A device has no memory for a tensor or buffer, although all free memory in the pools of the platform was given back to the
    /// device. The pools of other platforms of the process can't be reached.
    #[error(
        "out of memory on {device}: {requested} bytes were requested, and all free memory was given back; {}; drop tensors, or \
         make them smaller{}",
        held_by(pools, *total), memory_option(pools, *is_simulated)
    )]
    OutOfMemory {
        /// The device.
        device: DeviceId,
        /// The size of the tensor or buffer in bytes, rounded up.
        requested: u64,
        /// How much memory the device has, in bytes.
        total: u64,
        /// The pools that hold memory of the device, the largest first. Each has the allocator's name, which is empty for the
        /// platform's own pool; the bytes in use; and the free bytes, from memory that other threads have dropped since free
        /// memory was given back.
        pools: Vec<(String, u64, u64)>,
        /// Whether the device is simulated.
        is_simulated: bool,
    },

    /// The limit of a device's page-locked host memory is reached.
    #[error(
        "page-locked memory of {device} is exhausted: {requested} bytes are needed, and {used} of {limit} are in use; raise \
         `MemoryOptions::pinned_limit` to at least {}, or drop `Pinned` memory and downloads earlier",
        .used.saturating_add(*.requested)
    )]
    PinnedExhausted {
        /// The device.
        device: DeviceId,
        /// The size of the memory in bytes, rounded up.
        requested: u64,
        /// How many bytes are in use.
        used: u64,
        /// The limit, in bytes.
        limit: u64,
    },

    /// The platform has no such device.
    #[error("{who} names {device}, but the platform has {devices} device(s), numbered from 0")]
    NoSuchDevice {
        /// The call that names the device, or the pool that does.
        who: String,
        /// The device.
        device: DeviceId,
        /// How many devices the platform has.
        devices: usize,
    },

    /// A stream, a point or memory of one platform was used with another.
    #[error(
        "{what} belongs to another platform; streams, points and memory can't be shared between platforms"
    )]
    ForeignPlatform {
        /// The stream, the point or the memory.
        what: String,
    },

    /// Memory of one device was used on a stream of another.
    #[error(
        "{what} is on {memory}, but the stream is on {stream}; take a stream of {memory}, or copy the \
         data to {stream}: `#[transfer]` at an edge, else `copy_peer`"
    )]
    WrongDevice {
        /// The memory.
        what: String,
        /// The device of the memory.
        memory: DeviceId,
        /// The device of the stream.
        stream: DeviceId,
    },

    /// The description of a stream pool, a green context pool or an allocator has a mistake, or the pool is too small for the
    /// operators of its graph.
    #[error("{problem}")]
    PoolDescription {
        /// The pool's name.
        pool: String,
        /// The problem, with the pool's name, and its remedy. If it is found while compiling, the error has the same text.
        problem: String,
    },

    /// The ends of an edge are on different devices; or they are on one device, and the edge is marked `#[transfer]`.
    #[error("{problem}")]
    EdgeDevices {
        /// The edge's name.
        edge: String,
        /// The devices of the edge's ends, and the remedy. If the problem is found while compiling, the error has the same text.
        problem: String,
    },

    /// A device can't be divided into the requested partitions.
    #[error("{device} can't be divided into partitions of {asked:?} multiprocessors: {problem}")]
    GreenContexts {
        /// The device.
        device: DeviceId,
        /// How many multiprocessors each partition was to have.
        asked: Vec<u32>,
        /// The problem, and the legal sizes.
        problem: String,
        /// The driver's error, if the driver refused the division.
        cause: Option<Box<DriverError>>,
    },

    /// The time between two moments can't be measured.
    #[error(
        "this time span can't be measured: {problem}; take two moments of one device, in order"
    )]
    TimeSpan {
        /// Why the time can't be measured.
        problem: String,
    },

    /// Two lengths that must be the same are not.
    #[error(
        "{what}: the source has {source_len} elements, but the target has {target_len}; they must be equal"
    )]
    LengthMismatch {
        /// The call that got the two lengths.
        what: &'static str,
        /// The number of elements of the source.
        source_len: usize,
        /// The number of elements of the target.
        target_len: usize,
    },

    /// An array or an image of another crate has another layout than a tensor's memory. With the features `ndarray` and `image`.
    #[error("{what} has {found}, and not {wanted}; {remedy}")]
    HostLayout {
        /// The array, the image or the memory.
        what: &'static str,
        /// The layout that was found.
        found: String,
        /// The layout that a tensor's memory has.
        wanted: String,
        /// The remedy.
        remedy: &'static str,
    },

    /// A shape has too many dimensions, or a size beyond the addresses of memory.
    #[error("the shape {shape:?} is too large: {reason}")]
    Shape {
        /// The shape.
        shape: Vec<usize>,
        /// Why the shape is refused.
        reason: &'static str,
    },

    /// Memory can't pass between streamflow and other code.
    #[error("{what}: {reason}; {remedy}")]
    Exchange {
        /// The memory, the tensor or the stream that can't pass.
        what: String,
        /// Why the memory can't pass.
        reason: String,
        /// The remedy.
        remedy: String,
    },

    /// A search for a tensor by its name at run time has found no tensor, or none of the right type.
    #[error("`{name}` {problem}; there is {found}")]
    NoTensor {
        /// The name, a path of fields.
        name: String,
        /// The problem with the name.
        problem: String,
        /// The names that exist, with their types.
        found: String,
    },

    /// Two shapes differ that must be equal, or that must have the same number of elements.
    #[error(
        "{what}: the source has shape {source_shape:?}, {} elements, but the target has {target_shape:?}, {}; {remedy}",
        .source_shape.iter().product::<usize>(), .target_shape.iter().product::<usize>()
    )]
    ShapeMismatch {
        /// The call that got the two shapes.
        what: &'static str,
        /// The shape of the source.
        source_shape: Vec<usize>,
        /// The shape of the target.
        target_shape: Vec<usize>,
        /// The remedy.
        remedy: String,
    },

    /// A view with gaps was used where dense memory, or memory with dense rows, is needed.
    #[error("a view of shape {shape:?} with strides {strides:?} {problem}; {remedy}")]
    Strided {
        /// The view's shape.
        shape: Vec<usize>,
        /// The view's strides, in elements.
        strides: Vec<usize>,
        /// What is wrong with the view.
        problem: &'static str,
        /// The remedy.
        remedy: &'static str,
    },

    /// An operator ran, but neither received, left nor discarded a message.
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

    /// An operator asked for more messages in one tick than the edge of the input holds.
    #[error(
        "`receive_batch({at_most})` at `{port}`, but its edge `{edge}` holds {capacity}; give the edge \
         `#[capacity({at_most})]`"
    )]
    BatchTooLarge {
        /// The input.
        port: &'static str,
        /// How many messages the operator asked for.
        at_most: usize,
        /// The edge.
        edge: &'static str,
        /// How many messages the edge holds.
        capacity: usize,
    },

    /// A node that adopts the stream of a message has not received a stream yet.
    #[error(
        "`{node}` has no stream{}: it is marked `#[streams(none)]`, or calls `adopt()` or \
         `or_adopt()`, so it adopts the first stream that comes with a message, and none has come; \
         receive a required input first, write `.or_default()`, or name a pool that has a stream",
        .exhausted.as_ref().map(|pool| format!(", and its pool `{pool}` is exhausted")).unwrap_or_default()
    )]
    NothingToAdopt {
        /// The node.
        node: String,
        /// The pool without a free stream, if the node calls `or_adopt()`.
        exhausted: Option<String>,
    },

    /// Device data was opened on a stream that does not wait for all streams on which the data was queued.
    #[error(
        "the message of `{node}.{port}` came with a stream that was not passed to `synchronize_streams`; \
         pass all streams that `streams()` names"
    )]
    NotSynchronized {
        /// The node.
        node: String,
        /// The input.
        port: &'static str,
    },

    /// An operator emits device data, but has no stream to send it on.
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

    /// An adopting node, `#[streams(none)]`, would need a stream pool to allocate a stream, but has none.
    #[error(
        "`{node}` needs a pool for its stream `{stream}`, but has none: it is marked \
         `#[streams(none)]`; name a pool there"
    )]
    NoPool {
        /// The node.
        node: String,
        /// The name of the stream to allocate.
        stream: String,
    },

    /// A value that was made for one stream was used on another.
    #[error(
        "a value that was made for the stream {made_for} is used on {used_on}; make one for each stream"
    )]
    OtherStream {
        /// The label and the number of the stream for which the value was made, since two streams may have the same label. For a
        /// stream of another platform, only the number.
        made_for: String,
        /// The stream on which the value was used.
        used_on: String,
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
        /// How many messages the edge holds.
        capacity: usize,
    },

    /// The capacity of an edge is 0.
    #[error("the capacity of `{edge}` is 0; `#[capacity(n)]` takes at least 1")]
    CapacityZero {
        /// The edge.
        edge: &'static str,
    },

    /// A graph is run again, but the queue of a `#[feedback]` edge is empty, since the run before has taken the last message.
    #[error(
        "the feedback edge `{edge}` has no message, so this run can't begin: the run before took the last \
         one, and ended before it sent the next; make a new graph"
    )]
    FeedbackLost {
        /// The edge.
        edge: &'static str,
    },

    /// A run can't go on, although a node has ticks left, or messages wait that no node will take. Each chain begins at a stuck
    /// node, and leads from each node to the node for which it waits.
    #[error(
        "the run has stalled:\n  {}\nsend what is waited for in each tick, take or discard what waits, or end the graph \
         with `finish` or `stop_graph`",
        chains.join("\n  ")
    )]
    Stalled {
        /// The chains of nodes, as text: each node of a chain waits for the next one.
        chains: Vec<String>,
    },

    /// The count of a node is 0.
    #[error("the count of `{node}` is 0; `#[when(count(n))]` takes at least 1")]
    CountZero {
        /// The node.
        node: String,
    },

    /// A graph has no node of this name.
    #[error("the graph has no node `{node}`{hint}")]
    UnknownNode {
        /// The name that the program has used.
        node: String,
        /// A question that proposes the nearest name, or an empty text.
        hint: String,
    },

    /// The limit of a run has no effect on the graph, or is 0. Nothing was run.
    #[error("the run of the graph can't be limited: {problem}")]
    RunLimit {
        /// The problem and its remedy.
        problem: &'static str,
    },

    /// `end_run` was called, but no call of `tick` has begun a run.
    #[error("`end_run` ends a run that `tick` has begun, and there is none: call `tick` first")]
    NotStepped,

    /// The value of the environment variable `STREAMFLOW_WORKERS` is not a number of workers.
    #[error(
        "the environment has `STREAMFLOW_WORKERS={value}`, which is no number of workers; set it to 1 or more, or unset it"
    )]
    WorkersVariable {
        /// The value of the variable.
        value: String,
    },

    /// The value of the environment variable `STREAMFLOW_ASSIGN` is not an assignment of streams.
    #[error(
        "the environment has `STREAMFLOW_ASSIGN={value}`, which is no assignment of streams; set it to `per_operator`, or to \
         `planned:n` with a depth n from 1 to 64, or unset it"
    )]
    AssignVariable {
        /// The value of the variable.
        value: String,
    },

    /// A graph can't have the workers that the program has set.
    #[error("the graph can't have these workers: {problem}")]
    Workers {
        /// The problem and its remedy.
        problem: String,
    },

    /// A worker's thread can't get its core or its priority. The thread has the settings that it had before.
    #[error("worker `{worker}` can't have {setting}: {cause}; {remedy}")]
    WorkerThread {
        /// The name of the worker.
        worker: String,
        /// The core or the priority that was refused.
        setting: String,
        /// The reason that the operating system gives.
        cause: String,
        /// The remedy.
        remedy: String,
    },

    /// A handle of a run was used after the end of the run.
    #[error("`{call}` came too late: the run of `{graph}` {problem}")]
    RunOver {
        /// The graph.
        graph: &'static str,
        /// The name of the handle's method that was called too late.
        call: &'static str,
        /// What happened before the call, and the remedy.
        problem: &'static str,
    },

    /// A run has not ended within the time for which its caller waits, or has not made a report within that time.
    #[error("the run of `{graph}` goes on: {in_hook}")]
    StillRunning {
        /// The graph.
        graph: &'static str,
        /// The hook that runs now, with its node, and how to end it. [`RunHandle::status`](crate::schedule::RunHandle::status)
        /// has the same facts as values.
        in_hook: String,
    },

    /// The thread of a run could not be made. The graph was dropped without being run.
    #[error(
        "no thread could be made to run `{graph}`: {cause}; end other threads, or call `run` on a thread of your own"
    )]
    NoThread {
        /// The graph.
        graph: &'static str,
        /// The operating system's error.
        cause: String,
    },

    /// The thread could not be made that wakes tasks which await downloads.
    #[error(
        "no thread could be made to watch a download that is awaited: {cause}; end other threads, or call \
         `wait_blocking` on it"
    )]
    NoWatcher {
        /// The operating system's error.
        cause: String,
    },

    /// A signal can't be made to stop a run.
    #[error(
        "no signal stops the run: {problem}; handle the signals, and call `stop` of a `handle()` of the run there"
    )]
    CtrlC {
        /// The problem and its remedy.
        problem: String,
    },

    /// A condition of a node can never hold, or does not fit its node.
    #[error("`{node}` can't have the condition `{condition}`: {problem}")]
    ImpossibleCondition {
        /// The node.
        node: String,
        /// The condition, as written in `#[when(…)]`.
        condition: &'static str,
        /// The reason and the remedy.
        problem: String,
    },

    /// A task can't send more messages into a graph: the run has ended, or the graph was dropped. With the feature `futures`.
    #[error(
        "no run takes messages of this `PortSink` now, and {left} are left in it: its run is over, or its graph was dropped. \
         The result of a run says why it has ended. Another run of the graph takes them first"
    )]
    SinkOver {
        /// The number of messages that no run has taken.
        left: usize,
    },

    /// The last messages of a `PortStream` are missing. With the feature `futures`.
    #[error(
        "the last messages of this `PortStream` are missing: its run was stopped or has failed, or its graph was dropped \
         before a run. The result of a run says why it has ended"
    )]
    StreamCut,

    /// A condition's handle was used after all nodes with that condition had been dropped.
    #[error("this `{handle}` has no effect: {problem}")]
    Handle {
        /// The handle's type.
        handle: &'static str,
        /// The reason and the remedy.
        problem: &'static str,
    },

    /// The program has set a longer spin than a scheduler may do.
    #[error(
        "a scheduler was told to spin for {asked:?} before its thread sleeps; `spin` is at most {longest:?}, since \
         meanwhile it needs a processor core"
    )]
    Spin {
        /// The requested duration.
        asked: Duration,
        /// The longest possible duration.
        longest: Duration,
    },

    /// The value of a parameter, or the value to set, is outside of the parameter's range.
    #[error(
        "parameter `{parameter}` of node `{node}` can't be {value}: its range is {range}; choose a value of the range"
    )]
    ParamOutOfRange {
        /// The node.
        node: String,
        /// The parameter.
        parameter: &'static str,
        /// The value that was refused.
        value: String,
        /// The range, as Rust writes it.
        range: String,
    },

    /// A hook assigned a parameter: the operator's field differs from the value that was set through handles.
    #[error(
        "a hook of node `{node}` assigned its parameter `{parameter}`: the field is {field}, and the handles and the \
         report say {set}; a parameter is set through a handle, so keep what the operator changes in a field without \
         `#[param]`"
    )]
    ParamAssigned {
        /// The node.
        node: String,
        /// The parameter.
        parameter: &'static str,
        /// The field's value.
        field: String,
        /// The value that was set through a handle.
        set: String,
    },

    /// A parameter was set through a handle of a graph that was dropped.
    #[error(
        "parameter `{parameter}` of node `{node}` can't be set: its graph was dropped; make a new graph, and take \
         the handle of that one"
    )]
    ParamOfDroppedGraph {
        /// The node.
        node: String,
        /// The parameter.
        parameter: &'static str,
    },

    /// A file with values for parameters has mistakes. No parameter was set from the file.
    #[error("the parameters of `{file}` were not set; correct the file:\n  {}", problems.join("\n  "))]
    ParamsFile {
        /// The file.
        file: String,
        /// All mistakes, each with file, line and column.
        problems: Vec<String>,
    },

    /// The program has set an option of the simulator for a platform that is not made by streamflow's simulator.
    #[error(
        "`{option}` is an option of the host simulator, and `{end}` makes no simulator; leave it out, or end the \
         builder with `host`{}",
        if *end == "driver" { ", or set it in the driver's own builder" } else { ", or with `detect`, which uses it where there is no GPU" }
    )]
    SimulatorOption {
        /// The option: `seed` or `devices`.
        option: &'static str,
        /// The call that makes the platform: `cuda` or `driver`.
        end: &'static str,
    },

    /// A number that the program gave is outside of its range.
    #[error("{what} can't be {given}: it is {least} to {most}; {remedy}")]
    OutOfRange {
        /// What the number means, and where the program gave it.
        what: String,
        /// The number.
        given: u64,
        /// The smallest possible number.
        least: u64,
        /// The largest possible number.
        most: u64,
        /// The remedy.
        remedy: &'static str,
    },

    /// An operator's hook failed.
    #[error("operator `{node}` failed in `{hook}`, tick {tick}: {cause}")]
    Operator {
        /// The node.
        node: String,
        /// The hook: `start`, `compute`, `flush` or `stop`. Or another step of the node: `readiness`, if a query of an awaited
        /// stream has failed or a condition has panicked; `synchronize`, if the wait for the node's work at the end of a run has
        /// failed; or `new`, if no fresh operator could be made for a restart.
        hook: &'static str,
        /// The tick, from 0.
        tick: u64,
        /// The error that the hook returned, with its type. If the node itself has failed, this is an [`Error`], for example
        /// [`Error::Panicked`] for a panic.
        #[source]
        cause: Failure,
    },

    /// An operator panicked.
    #[error("it panicked: {message}")]
    Panicked {
        /// The text of the panic.
        message: String,
    },

    /// A call uses, sends or reads memory that is *not written*: an earlier call of a hook was to write it and has failed, and
    /// the hook has ignored the error.
    /// [`DeviceSlice::assume_written`](crate::memory::DeviceSlice::assume_written) has the rule.
    #[error(
        "memory that `{node}` was to write is not written: a call for it has failed, and `{node}` has dropped its error; \
         return the error, as with `?`, or overwrite the memory by a copy or a fill, or call `assume_written` if its old \
         content is right or a kernel overwrites all of it next: {cause}"
    )]
    Unwritten {
        /// The node of the hook that made the failed call.
        node: String,
        /// The error of the failed call.
        #[source]
        cause: Box<Error>,
    },

    /// A run ended with an error, and more errors followed while the graph was being stopped.
    #[error("{cause}; while the graph was being stopped, {} more followed: {}", errors(followed.len()), texts(followed))]
    Run {
        /// The first error.
        #[source]
        cause: Box<Error>,
        /// The errors that followed, in order.
        followed: Vec<Error>,
    },

    /// The [race checker](crate::driver::race) found unordered accesses to the same memory, an access to freed memory,
    /// a read of memory that was never written, or a stale handle.
    #[error("{0}")]
    Races(RaceReports),

    /// A failure of the user's code outside of all hooks: in an expression of `graph!`, or in a test that is explored.
    #[error("{0}")]
    Other(#[source] Failure),

    /// The value of an environment variable is not valid.
    #[error("the environment variable {name} is {value:?}: {expected}")]
    Variable {
        /// The variable.
        name: &'static str,
        /// The value of the variable.
        value: String,
        /// What the value may be.
        expected: &'static str,
    },

    /// An [`Explorer`](crate::testing::Explorer) has 0 seeds.
    #[error("an `Explorer` has 0 seeds, so it would run no test; give it at least 1")]
    NoSeeds,

    /// A test that an [`Explorer`](crate::testing::Explorer) runs works on another platform than the one that it was given, so
    /// its orders of execution would not be explored.
    #[error("the test is not explored: {problem}")]
    Unexplored {
        /// The mistake of the test, and the remedy.
        problem: &'static str,
    },

    /// An exploration found an order of execution in which the test fails, or could not try all orders.
    #[error("{0}")]
    Explored(Box<Exploration>),

    /// A kernel's two bodies write different values, or one of the bodies fails: see
    /// [`testing::compare_bodies`](crate::testing::compare_bodies).
    #[error("{0}")]
    Bodies(Box<BodyFailure>),

    /// A thread of an explored test can't take turns with the other threads: see [`testing::scope`](crate::testing::scope).
    #[error("thread `{thread}` {problem}")]
    Thread {
        /// The thread's name, its number, or the place where it was spawned.
        thread: String,
        /// The problem and its remedy.
        problem: String,
    },

    /// The shapes of a launch's arguments don't fit together. Nothing was launched.
    #[error("kernel `{kernel}`: {problem}")]
    Shapes {
        /// The kernel.
        kernel: &'static str,
        /// The arguments, and how their shapes differ.
        problem: String,
    },

    /// The arguments of a launch do not fulfil the kernel's `requires(…)`. Nothing was launched.
    #[error("kernel `{kernel}` requires `{requirement}`, which these arguments break: {values}")]
    KernelRequirement {
        /// The kernel.
        kernel: &'static str,
        /// The condition as its author wrote it.
        requirement: &'static str,
        /// Every length and every scalar of the launch, as `a.len() = 3, cols = 4`.
        values: String,
    },

    /// No device, or no launch of this kernel, can have the given grid. Nothing was launched.
    #[error("kernel `{kernel}` cannot be launched with this grid: {problem}")]
    Grid {
        /// The kernel.
        kernel: String,
        /// The broken limit, the excess, and the remedy.
        problem: String,
    },

    /// A kernel used an index outside of an argument. This error is found only with `STREAMFLOW_CHECK_BOUNDS=1`.
    #[error(
        "kernel `{kernel}` used `{argument}[{index}]`, but `{argument}` has {length} elements; \
         the access was diverted, so the results of this launch are wrong"
    )]
    OutOfBounds {
        /// The kernel.
        kernel: String,
        /// The argument's name.
        argument: String,
        /// The index, in elements; it may be negative.
        index: i64,
        /// The argument's length in elements.
        length: u64,
    },

    /// A kernel with one body has divided an integer by 0. The result of that division was 0.
    #[error(
        "kernel `{kernel}` divided an integer by 0 at {file}:{line}; the result was taken as 0, so the results of this \
         launch are wrong; compare the divisor with 0 before"
    )]
    DivisionByZero {
        /// The kernel.
        kernel: String,
        /// The file of the kernel.
        file: String,
        /// The line of the operator.
        line: u64,
    },

    /// A kernel with one body has used an index outside of a table or an array. The element was taken as 0, and nothing was
    /// written.
    #[error(
        "kernel `{kernel}` used index {index} of {of}, which has {length} elements, at {file}:{line}; the element was taken as \
         0, so the results of this launch are wrong; compare the index with `len()` before"
    )]
    IndexOutOfRange {
        /// The kernel.
        kernel: String,
        /// The table's name, or that it was an array of the body.
        of: String,
        /// The index, in elements.
        index: u64,
        /// The length in elements.
        length: u64,
        /// The file of the kernel.
        file: String,
        /// The line of the access, or that of the call of the function that has it.
        line: u64,
    },
}

/// The same text as [`Display`](std::fmt::Display): a `main` that returns an error prints this form.
impl std::fmt::Debug for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

impl Error {
    /// Returns the first error of type `E` in the chain of this error and its causes, for example the error that a hook has
    /// returned.
    ///
    /// ```
    /// # use streamflow::prelude::*;
    /// # fn recover(run: Result<(), Error>) {
    /// if let Err(error) = run
    ///     && let Some(error) = error.find_cause::<std::io::Error>()
    /// {
    ///     println!("a file is missing: {error}");
    /// }
    /// # }
    /// ```
    pub fn find_cause<E: StdError + 'static>(&self) -> Option<&E> {
        let mut next: Option<&(dyn StdError + 'static)> = Some(self);
        while let Some(error) = next {
            // `Error::Driver` is transparent: its `source` is the cause of the `DriverError`, so the `DriverError` is looked at
            // here.
            let driver: Option<&dyn StdError> = match error.downcast_ref() {
                Some(Self::Driver(error)) => Some(error),
                _ => None,
            };
            let found = error.downcast_ref().or_else(|| driver?.downcast_ref());
            if found.is_some() {
                return found;
            }
            next = error.source();
        }
        None
    }

    /// Whether the error is of a call that was refused because the device is unusable.
    pub(crate) fn is_refusal(&self) -> bool {
        // The errors in the chain may be of the user's types, whose `source` may panic.
        let is_sticky = || matches!(self.find_cause(), Some(DriverError::Sticky { .. }));
        caught(is_sticky).unwrap_or(false)
    }

    /// Whether the text of this error names `lost`, the error that has made the device unusable.
    pub(crate) fn names(&self, lost: &Sticky) -> bool {
        let names = || match self.find_cause() {
            Some(DriverError::Sticky { cause, .. }) => cause == lost,
            Some(DriverError::Call { code, name, .. }) => (*code, name) == (lost.code, &lost.name),
            _ => false,
        };
        caught(names).unwrap_or(false)
    }

    /// Creates an `Error::ForeignPlatform`. Not inlined, since every launch has a branch that calls this function.
    #[cold]
    #[inline(never)]
    pub(crate) fn foreign(what: &str) -> Self {
        Self::ForeignPlatform { what: what.to_owned() }
    }
}
