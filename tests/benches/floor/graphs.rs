//! The graphs of the workloads: NVIDIA's CudaStreamPool example, and the task graphs that `build.rs` of the tests writes.

use std::sync::Arc;

use streamflow::__private::{AnyNode, RunState};
use streamflow::graph::Graph;
use streamflow::prelude::*;

use crate::operators::{Combine, End, Last, Origin, Receive, Sink, Source, Step, Task};
use crate::run::Run;

include!(concat!(env!("OUT_DIR"), "/floor.rs"));

graph! {
    pub(crate) struct Seed(pool: CudaStreamPool, shape: [usize; 2], run: Arc<Run<f32>>) {
        let P: CudaStreamPool = pool;
        #[streams(P)] let source1: Source = Source::new(shape, step(shape), run.clone());
        #[streams(P)] let source2: Source = Source::new(shape, step(shape), run.clone());
        #[streams(P)] let combine_and_sum: Combine = Combine::new();
        #[streams(P)] let rx: Receive = Receive::new(run.clone());
        source1.image >> combine_and_sum.in1;
        source2.image >> combine_and_sum.in2;
        combine_and_sum.out >> rx.sums;
    }
}

/// Returns the difference between the exponents of neighbouring pixels.
pub(crate) fn step([rows, cols]: [usize; 2]) -> f32 {
    10.0 / (rows * cols - 1).max(1) as f32
}

/// A function that makes a graph of tasks.
pub(crate) type Make = fn(&Platform, CudaStreamPool, &Arc<Run<u32>>) -> Result<Box<dyn AnyGraph>>;

/// A graph of any type, as a trait object.
pub(crate) trait AnyGraph {
    fn graph(&mut self) -> &mut dyn Graph;
    /// Makes the graph ask for replay, as `#[replay]` does.
    fn set_replayed(&mut self);
}

macro_rules! any {
    ($($name:ident => $make:ident)*) => { $(
        pub(crate) fn $make(
            platform: &Platform,
            pool: CudaStreamPool,
            run: &Arc<Run<u32>>,
        ) -> Result<Box<dyn AnyGraph>> {
            Ok(Box::new(Any::new($name::new(platform, pool, run.clone())?)))
        }
    )* };
}

/// Makes a graph of the type `G` usable as an [`AnyGraph`].
pub(crate) struct Any<G> {
    graph: G,
    is_replayed: bool,
}

impl<G> Any<G> {
    pub(crate) fn new(graph: G) -> Self {
        Self { graph, is_replayed: false }
    }
}

impl<G: Graph> AnyGraph for Any<G> {
    fn graph(&mut self) -> &mut dyn Graph {
        self
    }

    fn set_replayed(&mut self) {
        self.is_replayed = true;
    }
}

/// Delegates to the graph `G`, and decides at run time whether it is replayed. So the graph need not be compiled twice.
impl<G: Graph> Graph for Any<G> {
    fn nodes(&mut self) -> Vec<&mut dyn AnyNode> {
        self.graph.nodes()
    }

    fn __streamflow_replays(&self) -> bool {
        self.is_replayed
    }

    fn __streamflow_run(&mut self) -> Option<&mut RunState> {
        self.graph.__streamflow_run()
    }

    fn platform(&self) -> &Platform {
        self.graph.platform()
    }

    type Handle = G::Handle;

    fn handle(&self) -> Self::Handle {
        self.graph.handle()
    }
}

any! {
    Chain16 => chain16
    Chain100 => chain100
    Chain500 => chain500
    Fan64 => fan64
    Trivial => trivial
    Tree => tree
    Dom => dom
    Fft => fft
    Stencil => stencil
    Random => random
}
