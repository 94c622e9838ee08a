//! Tools for the tests of your own operators and graphs.
//!
//! [`OperatorHarness`] lets one operator tick without a graph. [`explore`] runs a test under many of the
//! orders in which a device may execute its work, and [`Explorer`] also under all of them, on the host
//! simulator. [`scope`] spawns threads whose order is explored as well.
//!
//! # An operator, and then its graph
//!
//! A harness stands for the graph: push what the operator receives, let it tick, take what it emitted and
//! look at it. A test of a whole graph reads what its sink has kept. Written as a function of a platform, it
//! goes to [`explore`].
//!
//! ```
//! use streamflow::prelude::*;
//! use streamflow::testing::{OperatorHarness, explore};
//!
//! /// data[i] = value
//! #[kernel(unsafe cuda = "unsigned long long i = thread_index(); if (i < data_len) data[i] = value;")]
//! fn fill(data: &mut [f32], value: f32) {
//!     data.fill(value);
//! }
//!
//! /// data[i] *= factor
//! #[kernel(unsafe cuda = "unsigned long long i = thread_index(); if (i < data_len) data[i] *= factor;")]
//! fn scale(data: &mut [f32], factor: f32) {
//!     data.iter_mut().for_each(|x| *x *= factor);
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
//!         stream.launch::<fill>(4, (&mut image, cx.tick() as f32))?;
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
//!         stream.launch::<scale>(image.len(), (&mut image, self.factor))?;
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
//!     harness.stop()
//! }
//!
//! fn whole_graph(platform: &Platform) -> Result<()> {
//!     let mut graph = Scaled::new(platform, 3, 10.0)?;
//!     graph.run()?;
//!     assert_eq!(graph.keep().seen, [0.0, 10.0, 20.0]);
//!     Ok(())
//! }
//!
//! /// A panic in an operator ends the run like an error: what asserts inside of one needs no more.
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
//! #[kernel(unsafe cuda = "unsigned long long i = thread_index(); if (i < data_len) data[i] += 1.0f;")]
//! fn add_one(data: &mut [f32]) {
//!     data.iter_mut().for_each(|x| *x += 1.0);
//! }
//!
//! /// Adds on two streams in turn. A panic or an error would be a failure.
//! fn test(platform: &Platform) -> Result<()> {
//!     let pool = platform.stream_pool("TEST", &CudaStreamPool::new())?;
//!     let (a, b) = (pool.allocate("a")?, pool.allocate("b")?);
//!     let mut data = platform.buffer::<f32>(4, &a)?;
//!     a.fill_bytes(&mut data, 0)?;
//!     a.launch::<add_one>(4, (&mut data,))?;
//!     b.launch::<add_one>(4, (&mut data,))?;
//!     assert_eq!(b.download_blocking(&data)?, [2.0; 4]);
//!     Ok(())
//! }
//!
//! # fn main() -> Result<()> {
//! explore(test)?;
//!
//! let found = Explorer::new().run_exhaustively(test)?;
//! found.check()?;
//! println!("{found}"); // 37 states in 9 runs, none failed; no state is left
//! # Ok(())
//! # }
//! ```
//!
//! # Threads
//!
//! Threads of a test are spawned by [`scope`], which is used as [`std::thread::scope`]. Under [`explore`] and
//! an [`Explorer`] they take turns: one goes on, until it calls the driver, finds a lock of the platform taken,
//! or waits; in debug builds also at points between two steps of the runtime that belong together. Then the
//! seed says who is next. So a run repeats itself, bit for bit, with all its threads.
//!
//! The seed orders threads by *probabilistic concurrency testing* with depth 3 (Burckhardt et al., ASPLOS
//! 2010): threads have random priorities, the highest of those that could go on does, and at two random steps
//! the one that goes on falls below the others. Few switches at the right places find most faults, and need
//! no luck at all the other places.
//!
//! ```
//! use std::sync::atomic::{AtomicU32, Ordering};
//! use streamflow::prelude::*;
//! use streamflow::testing::{Explorer, scope};
//!
//! /// Two threads count up, and meet between reading and writing under some orders.
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
//! The test must own its threads. A thread that was spawned by something else and calls the driver ends the
//! run with an [`Error::Thread`](crate::Error::Thread) that names it. So does one that has the turn and does
//! nothing for 10 seconds, since it is blocked by a lock or a channel of the standard library, while the
//! thread that would go on with it waits for its turn: on the host, threads wait for each other by
//! [`join`](ScopedJoinHandle::join), or in a loop with [`yield_now`].
//!
//! # Repeating a failure
//!
//! What failed says how to repeat it: `STREAMFLOW_TEST_SEED=5` makes [`Explorer::run`] and [`explore`] try
//! that seed alone, and `STREAMFLOW_TEST_SCHEDULE=3:1,7:2` makes [`Explorer::run_exhaustively`] repeat that
//! run alone (in choice 3 take 1, in choice 7 take 2, else 0). `STREAMFLOW_TEST_SEEDS=n` tries the seeds
//! `0..n` where a test does not say how many. A test with several threads is repeated by the same profile: in
//! release builds there are fewer places where another thread may get the turn.
//!
//! # What exhaustive means
//!
//! Before each call of the driver that submits work or asks how far it is, and while one blocks, any
//! operation that is next on its stream may be executed, or the call goes on. An exhaustive exploration
//! makes every such choice in every *state*, in a run of the test that is carried to its end. So a
//! question, as [`CudaStream::is_complete`](crate::CudaStream::is_complete), is answered "not yet" in some
//! runs and "done" in others.
//!
//! A state is how far each stream is, what device memory holds, and what the host was answered. Orders
//! that lead to the same state are not tried twice; so operations that don't touch each other's memory
//! count in one order alone, and those that race in each order that makes a difference. This assumes that
//! - the test does the same when it is answered the same: no clock, no chance, nothing kept from one run
//!   for the next, no thread but those of a [`scope`]. That it does not is noticed, most often:
//!   [`Limit::Diverged`];
//! - how often it asked for something in vain, without doing anything else, makes no difference;
//! - kernels touch nothing but device memory;
//! - the host looks at page-locked memory only when nothing is being copied there. Where it does look,
//!   that is seen, but not in combination with everything that may follow;
//! - two states with one 64-bit hash are the same.
//!
//! With several threads, who is next is a choice like the others, and of these not all are made: a run switches
//! at most twice away from a thread that could go on. So it visits what up to 2 preemptions lead to, which
//! [`Exploration::preemptions`] says, and not every state. Threads share more than the device, so the state is
//! then also what each of them was answered, and in which order they had their turns: few orders lead to the
//! same state, and two threads with ten calls each are many runs.
//!
//! States multiply with each stream that works on its own: take small sizes, for the content of memory is
//! looked at after each operation, and few ticks. A graph of four streams and two ticks has some 3000.

mod choices;
mod explore;
mod harness;
mod scope;
mod search;
mod switches;
#[cfg(test)]
mod tests;
mod variables;

pub use crate::error::{Exploration, Failing, Limit, Stopped};
pub use explore::{Explorer, explore};
pub use harness::{Emitted, OperatorHarness};
pub use scope::{Scope, ScopedJoinHandle, scope, yield_now};
