// The interface has no such port, in a graph that nothing makes.
use streamflow::prelude::*;
use streamflow_tests::stereo::{Cast, FrameSource};

graph! {
    /// A graph with a type parameter.
    pub struct App<S: FrameSource>(source: New<S>) {
        let source: S = source;
        let cast: Cast = Cast::new();
        source.frames >> cast.src;
        cast.dst >> _;
    }
}

fn main() {}
