//! Graphs: nodes that hold operators, connected by edges. [`graph!`](macro@crate::graph) makes a struct and implements [`Graph`]
//! for it. A function of a program that takes any graph uses this trait as its bound. The runs of a graph are in
//! [`schedule`](crate::schedule).
//!
//! The fields of the struct are boxes of `Node`s. A scheduler sees the nodes as `AnyNode`s, in an order in which producers come
//! before their consumers.
//!
//! # A tensor for the next tick
//!
//! An edge with `#[feedback(initial = …)]` carries a message into the next tick. The expression of the initial message may use
//! the same names as the expressions of nodes: the parameters, `platform` and `?`.
//!
//! ```
//! use streamflow::prelude::*;
//!
//! /// out[i] = a[i] + b
//! #[kernel(
//!     unsafe cuda = "unsigned long long i = thread_index(); if (i < out_len) out[i] = a[i] + b;",
//!     requires(a.len() == out.len())
//! )]
//! fn add(out: &mut [f32], a: &[f32], b: f32) {
//!     for (out, a) in out.iter_mut().zip(a) {
//!         *out = a + b;
//!     }
//! }
//!
//! /// Sends 1, 2, 3.
//! #[operator]
//! struct Numbers {
//!     #[output] number: f32,
//! }
//!
//! impl Compute for Numbers {
//!     fn compute(&mut self, io: NumbersIo<'_>, cx: &ExecutionContext) -> Result<()> {
//!         io.number.emit(cx.tick() as f32 + 1.0)
//!     }
//! }
//!
//! /// Adds each number to what it sent before.
//! #[operator]
//! struct Sum {
//!     #[input] number: f32,
//!     #[input] before: &Tensor<f32>,
//!     #[output] sum: Tensor<f32>,
//! }
//!
//! impl Compute for Sum {
//!     fn compute(&mut self, io: SumIo<'_>, cx: &ExecutionContext) -> Result<()> {
//!         let number = io.number.receive().into_data();
//!         let (before, stream) = io.before.receive().receive_cuda_stream(cx)?;
//!         let mut sum = cx.tensor(before.shape(), &stream)?;
//!         stream.launch::<add>(sum.len(), (&mut sum, before, number))?;
//!         io.sum.emit(sum)
//!     }
//! }
//!
//! /// Keeps the last value of each sum.
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
//! /// The tensor to which the first tick adds. The device may still write it when the graph gets it.
//! fn zeros(platform: &Platform, len: usize) -> Result<Tensor<f32>> {
//!     let stream = platform.stream_pool("FIRST", &CudaStreamPool::new())?.allocate("zeros")?;
//!     let mut image = platform.tensor([len], &stream)?;
//!     stream.fill_bytes(&mut image, 0)?;
//!     Ok(image)
//! }
//!
//! graph! {
//!     struct Running(len: usize, count: u64) {
//!         #[when(count(count))] let numbers: Numbers = Numbers::new();
//!         let sum: Sum = Sum::new();
//!         let keep: Keep = Keep::new(Vec::new());
//!
//!         numbers.number >> sum.number;
//!         #[feedback(initial = zeros(platform, len)?)]
//!         sum.sum >> sum.before;
//!         sum.sum >> keep.image;
//!     }
//! }
//!
//! # fn main() -> Result<()> {
//! let mut graph = Running::new(&Platform::detect()?, 1000, 3)?;
//! graph.run()?;
//! assert_eq!(graph.keep().seen, [1.0, 3.0, 6.0]);
//! # Ok(())
//! # }
//! ```

pub(crate) mod arrays;
pub(crate) mod borders;
pub(crate) mod check;
pub(crate) mod connected;
pub(crate) mod diagram;
mod drawing;
mod joined;
pub(crate) mod loops;
pub(crate) mod plan;
pub(crate) mod reach;
pub(crate) mod state;

pub(crate) use crate::operator::{AnyNode, NodePaths, NodeStatus, Step, Waits};

pub use diagram::Diagram;
pub use plan::Plan;
pub(crate) use state::RunState;

use crate::error::Result;
use crate::platform::Platform;

/// A struct made by `graph!`. The macro also generates the methods `run`, `run_for`, `tick` and `end_run`, which call functions
/// of [`schedule`](crate::schedule). [`spawn`](crate::Spawn::spawn) is a method of the trait `Spawn`.
pub trait Graph {
    /// Returns the nodes, in an order in which producers come before their consumers.
    fn nodes(&mut self) -> Vec<&mut dyn AnyNode>;
    /// Appends the nodes to a list, in an order in which producers come before their consumers.
    #[doc(hidden)]
    fn __streamflow_nodes<'a>(&'a mut self, list: &mut Vec<&'a mut dyn AnyNode>) {
        list.append(&mut self.nodes());
    }
    /// Returns the name of the graph's struct.
    #[doc(hidden)]
    fn __streamflow_name(&self) -> &'static str {
        "graph"
    }
    /// Returns whether the graph has the attribute `#[replay]`.
    #[doc(hidden)]
    fn __streamflow_replays(&self) -> bool {
        false
    }
    /// Returns the state of the run that `tick` has begun. `None` for a graph that was not made by `graph!` and so has no method
    /// `tick`.
    #[doc(hidden)]
    fn __streamflow_run(&mut self) -> Option<&mut RunState> {
        None
    }
    /// Computes the plan of the graph: which operators share a stream, and the expected waits. See
    /// [`Assign`](crate::stream::Assign).
    ///
    /// # Errors
    /// [`Error::AssignVariable`](crate::Error::AssignVariable); an error with a text, if `graph!` did not make all nodes.
    fn plan(&mut self) -> Result<Plan>
    where
        Self: Sized,
    {
        plan::of_graph(self)
    }
    /// Returns the platform on which the graph runs.
    fn platform(&self) -> &Platform;
    /// The type of [`handle`](Self::handle).
    type Handle: Clone + Send + Sync + 'static
    where
        Self: Sized;
    /// Returns the handle by which any thread can set the parameters of the nodes. The method `params` that `graph!` generates
    /// returns the same handle.
    fn handle(&self) -> Self::Handle
    where
        Self: Sized;
}
