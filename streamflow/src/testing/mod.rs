//! Tools for tests of your kernels, operators and graphs.
//!
//! [`kernels`] compiles the CUDA bodies of all kernels, and compares them with the Rust bodies where a GPU is; [`compare_bodies`]
//! compares those of one kernel on input of your choice. [`OperatorHarness`] runs one operator without a graph, and [`GraphHarness`]
//! a graph with ports. [`explore`] runs a test under many of the orders in which a device may execute its work, and [`Explorer`] also
//! under all of them, on the host simulator. [`scope`] spawns threads, whose order is explored as well.
//!
//! # The two bodies of a kernel
//!
//! On the simulator only the Rust body runs. Two more tests concern the CUDA body. [`kernels`] finds mistakes of syntax and of
//! types; that needs NVRTC, and no GPU. On a GPU it also finds a CUDA body that computes something else than the Rust body, by the
//! launches, reductions and scans of the test so far, with random values. [`compare_bodies`] does so for one kernel, whose input and
//! tolerance you choose. The outcome of each test says if the test was skipped.
//!
//! ```standalone_crate
//! use streamflow::prelude::*;
//! use streamflow::testing::{self, Tolerance, compare_bodies};
//!
//! /// sum[i] = a[i] + b[i]
//! #[kernel(requires(sum.len() == a.len(), sum.len() == b.len()), unsafe cuda = "
//!     unsigned long long i = thread_index();
//!     if (i < sum_len) sum[i] = a[i] + b[i];
//! ")]
//! fn add(sum: &mut [f32], a: &[f32], b: &[f32]) {
//!     sum.iter_mut().zip(a).zip(b).for_each(|((sum, a), b)| *sum = a + b);
//! }
//!
//! // In a project each of them is in a `#[test]`.
//! fn main() -> Result<()> {
//!     println!("{}", testing::kernels()?); // NVRTC 13.0 compiled `add`, … for 7.5, 8.0, 9.0, 10.0
//!     let outcome = compare_bodies::<add>(Tolerance::EXACT, |draw| {
//!         let n = draw.len(0..=5000);
//!         let (a, b) = (draw.values(n, -1.0..=1.0), draw.values(n, -1.0..=1.0));
//!         (n.into(), (vec![f32::NAN; n], a, b))
//!     })?;
//!     println!("{outcome}"); // skipped: the CUDA driver library (libcuda) was not found; …
//!     Ok(())
//! }
//! ```
//!
//! # An operator, and then its graph
//!
//! A harness takes the place of the graph: push the messages that the operator receives, let it tick, take the messages
//! that it emitted and check them. [`GraphHarness`] does the same for a graph with ports. A test of a whole graph checks the data
//! that its sink has kept. If the test is a function of a platform, [`explore`] can run it.
//!
//! ```
//! use streamflow::prelude::*;
//! use streamflow::testing::{OperatorHarness, explore};
//!
//! /// data[i] = value
//! #[kernel(map)]
//! fn fill(data: &mut f32, value: f32) {
//!     *data = value;
//! }
//!
//! /// data[i] *= factor
//! #[kernel(map)]
//! fn scale(data: &mut f32, factor: f32) {
//!     *data *= factor;
//! }
//!
//! /// Counts the ticks in images of 4 values.
//! #[operator(streams(work))]
//! struct Source {
//!     #[output] image: Tensor<f32>,
//! }
//!
//! impl Compute for Source {
//!     fn compute(&mut self, io: SourceIo<'_>, cx: &ExecutionContext) -> Result<()> {
//!         let stream = cx.allocate_cuda_stream(io.work)?;
//!         let mut image = cx.tensor([4], &stream)?;
//!         stream.map::<fill>((&mut image, cx.tick() as f32))?;
//!         io.image.set_cuda_stream(&stream).emit(image)
//!     }
//! }
//!
//! /// The operator under test: scales in place.
//! #[operator]
//! struct Gain {
//!     #[input] image: Tensor<f32>,
//!     #[output] scaled: Tensor<f32>,
//!     factor: f32,
//! }
//!
//! impl Compute for Gain {
//!     fn compute(&mut self, io: GainIo<'_>, cx: &ExecutionContext) -> Result<()> {
//!         assert!(self.factor.is_finite(), "the factor is {}", self.factor);
//!         let (mut image, stream) = io.image.receive().receive_cuda_stream(cx)?;
//!         stream.map::<scale>((&mut image, self.factor))?;
//!         io.scaled.emit(image)
//!     }
//! }
//!
//! /// The sink: keeps the last value of each image.
//! #[operator]
//! struct Keep {
//!     #[input] image: &Tensor<f32>,
//!     seen: Vec<f32>,
//! }
//!
//! impl Compute for Keep {
//!     fn compute(&mut self, io: KeepIo<'_>, cx: &ExecutionContext) -> Result<()> {
//!         let (image, stream) = io.image.receive().receive_cuda_stream(cx)?;
//!         self.seen.extend(cx.download(image, &stream)?.wait_blocking()?.last());
//!         Ok(())
//!     }
//! }
//!
//! graph! {
//!     struct Scaled(count: u64, factor: f32) {
//!         #[when(count(count))] let source: Source = Source::new();
//!         let gain: Gain = Gain::new(factor);
//!         let keep: Keep = Keep::new(Vec::new());
//!         source.image >> gain.image;
//!         gain.scaled >> keep.image;
//!     }
//! }
//!
//! fn one_operator(platform: &Platform) -> Result<()> {
//!     let mut harness = OperatorHarness::new(platform, Gain::new(0.5))?;
//!     assert!(!harness.tick()?, "without a message it is not ready");
//!     let mut image = platform.tensor([2], harness.stream())?;
//!     harness.stream().upload_blocking(&[2.0, 4.0], &mut image)?;
//!     harness.push(|ports| &mut ports.image, image)?;
//!     assert!(harness.tick()?);
//!     let out = harness.take(|ports| &mut ports.scaled).expect("it emits in each tick");
//!     let scaled = platform.download(&out.message, harness.stream())?;
//!     assert_eq!(scaled.wait_blocking()?, [1.0, 2.0]);
//!     harness.stop()?;
//!     Ok(())
//! }
//!
//! fn whole_graph(platform: &Platform) -> Result<()> {
//!     let mut graph = Scaled::new(platform, 3, 10.0)?;
//!     graph.run()?;
//!     assert_eq!(graph.keep().seen, [0.0, 10.0, 20.0]);
//!     Ok(())
//! }
//!
//! /// A panic in an operator ends the run with an error, so an operator may assert.
//! fn panics_are_errors(platform: &Platform) -> Result<()> {
//!     let error = Scaled::new(platform, 3, f32::NAN)?.run().expect_err("it asserts");
//!     let text = "operator `gain` failed in `compute`, tick 0: it panicked: the factor is NaN";
//!     assert_eq!(error.to_string(), text);
//!     Ok(())
//! }
//!
//! // In a project each of them is in a `#[test]`.
//! fn main() -> Result<()> {
//!     explore(one_operator)?;
//!     explore(whole_graph)?;
//!     panics_are_errors(&Platform::host().build()?)
//! }
//! ```
//!
//! # Streams without operators
//!
//! ```
//! use streamflow::prelude::*;
//! use streamflow::testing::{Explorer, explore};
//!
//! /// data[i] += 1
//! #[kernel(map)]
//! fn add_one(data: &mut f32) {
//!     *data += 1.0;
//! }
//!
//! /// Adds on two streams, one after the other. A panic or an error is a failure.
//! fn test(platform: &Platform) -> Result<()> {
//!     let pool = platform.stream_pool("TEST", &CudaStreamPool::new())?;
//!     let (a, b) = (pool.allocate("a")?, pool.allocate("b")?);
//!     let mut data = platform.buffer::<f32>(4, &a)?;
//!     a.fill_bytes(&mut data, 0)?;
//!     a.map::<add_one>((&mut data,))?;
//!     b.map::<add_one>((&mut data,))?;
//!     assert_eq!(b.download_blocking(&data)?, [2.0; 4]);
//!     Ok(())
//! }
//!
//! # fn main() -> Result<()> {
//! explore(test)?;
//!
//! let found = Explorer::new().run_exhaustively(test)?;
//! found.check()?;
//! println!("{found}"); // 37 states in 18 runs, none failed; no state is left
//! # Ok(())
//! # }
//! ```
//!
//! # Failures of a test
//!
//! A test fails by an error, by a panic, and by leftovers: a race that the test has not taken by
//! [`Platform::take_races`](crate::Platform::take_races), with or without a graph, and queued work that fails when it is
//! executed. A test must use the platform that it is given, since no other platform is explored. A test that makes a platform
//! itself, that runs a graph of a platform from outside, or that uses no platform, fails with
//! [`Error::Unexplored`](crate::Error::Unexplored).
//!
//! # Threads
//!
//! [`scope`] spawns threads of a test, and is used like [`std::thread::scope`]. Under [`explore`] and an [`Explorer`] the threads
//! take turns. A thread runs until it calls the driver, finds a lock of the platform taken, or waits; in debug builds also until
//! it is between two steps of the runtime that belong together. Then the seed decides which thread is next. So a run repeats
//! itself, bit for bit, with all its threads.
//!
//! The seed orders threads by *probabilistic concurrency testing* with depth 3 (Burckhardt et al., ASPLOS 2010).
//! Threads have random priorities, and the ready thread with the highest priority runs. At two random steps the
//! running thread falls below the others. Few switches at the right places find most faults, and at all other places
//! the order does not matter.
//!
//! ```
//! use std::sync::atomic::{AtomicU32, Ordering};
//! use streamflow::prelude::*;
//! use streamflow::testing::{Explorer, scope};
//!
//! /// Two threads add 1. Under some orders one reads between the other's read and write.
//! fn test(platform: &Platform) -> Result<()> {
//!     let count = AtomicU32::new(0);
//!     let pool = platform.stream_pool("TEST", &CudaStreamPool::new())?;
//!     let (a, b) = (pool.allocate("a")?, pool.allocate("b")?);
//!     let add = |stream: CudaStream| {
//!         let read = count.load(Ordering::Relaxed);
//!         stream.record()?;
//!         count.store(read + 1, Ordering::Relaxed);
//!         Ok::<_, Error>(())
//!     };
//!     scope(|scope| {
//!         let thread = scope.spawn(|| add(a));
//!         add(b)?;
//!         thread.join().expect("it does not panic")
//!     })?;
//!     assert_eq!(count.into_inner(), 2);
//!     Ok(())
//! }
//!
//! # fn main() -> Result<()> {
//! let found = Explorer::new().run(test)?;
//! println!("{found}"); // 12 runs, the last of which failed: it panicked: assertion …; repeat it with …
//! # assert!(found.failing.is_some());
//! # Ok(())
//! # }
//! ```
//!
//! The test must own its threads. If a thread that [`scope`] has not spawned calls the driver, the run ends with an
//! [`Error::Thread`](crate::Error::Thread) that names the thread. The same error ends the run if a thread has the
//! turn and does nothing for 10 seconds: it is blocked by a lock or a channel of the standard library, and the thread
//! that could unblock it waits for its turn. On the host, threads wait for each other by
//! [`join`](ScopedJoinHandle::join), or in a loop with [`yield_now`]. A foreign thread that calls no driver, because it
//! only sets a parameter or notifies a handle, is not noticed, and such a run need not repeat under its seed.
//!
//! A short thread mostly does its one call near the start of a run. To set a parameter in the middle, spawn the graph and
//! wait for a tick: `while running.report()?.ticks("gain") < Some(3) { yield_now(); }`. A graph without an end needs
//! `stop`, since its `join` does not return.
//!
//! A test that was skipped, because it needs a GPU or NVRTC, counts as passed. The test prints the reason, with
//! `--nocapture`.
//!
//! # Time
//!
//! The platforms of [`explore`] and of an [`Explorer`] have a simulated [`Clock`](crate::time::Clock). A graph that has nothing
//! to do until a later moment moves it there at once, so that an hour of a periodic graph takes as long as its ticks, and
//! no tick is late. An operator that keeps its caller waiting calls `cx.platform().clock().advance(…)`.
//!
//! # Repeating a failure
//!
//! The error of a failed test says how to repeat it. `STREAMFLOW_TEST_SEED=5` makes [`Explorer::run`] and [`explore`]
//! try that seed alone. `STREAMFLOW_TEST_SCHEDULE=3:1,7:2` makes [`Explorer::run_exhaustively`] repeat that run alone
//! (take 1 in choice 3, 2 in choice 7, else 0). `STREAMFLOW_TEST_SEEDS=n` tries the seeds `0..n` in tests that don't
//! set their number. Repeat a test with several threads in the same profile: in release builds there are fewer places
//! where another thread may get the turn.
//!
//! # The meaning of "exhaustive"
//!
//! The simulator has a choice before each driver call that submits work or queries its progress, and while such a call
//! blocks: it executes any operation that is next on its stream, or lets the call go on. An exhaustive exploration
//! makes every such choice in every *state*, in runs of the whole test. So a query, as
//! [`CudaStream::is_complete`](crate::CudaStream::is_complete), returns "not yet" in some runs and "done" in others.
//!
//! A state is how far each stream is, the content of device memory, and the answers that the host got. Orders that
//! lead to the same state are not tried twice. So operations that don't touch each other's memory are tried in one
//! order alone, and those that race in each order that makes a difference. This assumes that
//! - the test does the same if it gets the same answers: it uses no clock but the platform's, no chance, no data of an
//!   earlier run, and no thread except those of a [`scope`]. Most violations are found: [`Limit::Diverged`];
//! - the number of queries that were answered "not yet", with nothing else done, makes no difference;
//! - kernels touch nothing but device memory;
//! - the host reads page-locked memory only while no copy uses it. A read during a copy is explored, but not in
//!   combination with all that may follow;
//! - two states with the same 64-bit hash are the same.
//!
//! With several threads the next thread is a choice like the others. Not all of these choices are made: a run has at
//! most two preemptions, that is, switches away from a thread that could go on. So the exploration visits the states
//! that up to 2 preemptions lead to, and not every state; [`Exploration::preemptions`] has that number. Threads share
//! more than the device, so the state then includes the answers that each thread got, and the order of their turns. Few
//! orders lead to the same state, and two threads with ten calls each are many runs.
//!
//! States multiply with each stream that works on its own. Take few ticks, and small sizes, since the content of
//! memory is hashed after each operation. A graph of four streams and two ticks has some 3000 states.

mod bodies;
mod choices;
mod compiles;
mod explore;
mod graph_harness;
mod harness;
pub(crate) mod launches;
mod outcome;
mod search;
mod surroundings;
mod switches;
#[cfg(test)]
mod tests;
mod variables;

pub use crate::error::{
    BodyDifference, BodyFailure, BodyProblem, Exploration, Failing, KernelBody, Limit, Stopped,
};
/// ```
/// use streamflow::prelude::*;
/// use streamflow::testing::{explore, scope};
///
/// /// data[i] = value
/// #[kernel(map)]
/// fn fill(data: &mut f32, value: f32) {
///     *data = value;
/// }
///
/// # fn main() -> Result<()> {
/// explore(|platform| {
///     let pool = platform.stream_pool("TEST", &CudaStreamPool::new())?;
///     let (a, b) = (pool.allocate("a")?, pool.allocate("b")?);
///     let mut data = platform.buffer::<f32>(4, &a)?;
///     a.map::<fill>((&mut data, 1.0))?;
///     let data = &data;
///     scope(|scope| {
///         // A stream can't be shared, so it goes to one thread. Data that is only read can be shared.
///         let thread = scope.spawn(move || b.download_blocking(data));
///         assert_eq!(a.download_blocking(data)?, [1.0; 4]);
///         assert_eq!(thread.join().expect("it does not panic")?, [1.0; 4]);
///         Ok(())
///     })
/// })?;
/// # Ok(())
/// # }
/// ```
#[doc(inline)]
pub use crate::turns::scope;
/// ```
/// use std::sync::mpsc::{TryRecvError, channel};
/// use streamflow::testing::{scope, yield_now};
///
/// let (send, receive) = channel();
/// scope(|scope| {
///     scope.spawn(move || send.send(1));
///     let received = loop {
///         match receive.try_recv() {
///             Err(TryRecvError::Empty) => yield_now(),
///             received => break received,
///         }
///     };
///     assert_eq!(received, Ok(1));
/// });
/// ```
#[doc(inline)]
pub use crate::turns::yield_now;
#[doc(inline)]
pub use crate::turns::{Scope, ScopedJoinHandle};
pub use bodies::{Draw, Drawn, KernelValues, Tolerance, compare_bodies};
pub use compiles::kernels;
pub use explore::{Explorer, explore};
pub use graph_harness::GraphHarness;
pub use harness::OperatorHarness;
pub use outcome::Outcome;
pub use surroundings::Emitted;
