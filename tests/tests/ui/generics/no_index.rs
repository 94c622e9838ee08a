// The array of a type parameter has no index, in a graph that nothing makes.
use streamflow::prelude::*;
use streamflow_tests::stereo::{Cast, FrameSource};

graph! {
    /// A graph with parameters.
    pub struct App<S: FrameSource, const N: usize>(source: fn(usize) -> New<S>) {
        let sources: [S; N] = |i| source(i);
        let casts: [Cast; N] = |_| Cast::new();
        for i in 0..N {
            sources.frame >> casts[i].src;
            casts[i].dst >> _;
        }
    }
}

fn main() {}
