// The interface has another message than the input at the end of the edge, in a graph that nothing makes.
use streamflow::prelude::*;
use streamflow_tests::stereo::{FrameSource, Invert};

graph! {
    /// A graph with a type parameter.
    pub struct App<S: FrameSource>(source: New<S>) {
        let source: S = source;
        let invert: Invert = Invert::new();
        source.frame >> invert.src;
        invert.dst >> _;
    }
}

fn main() {}
