// The graph's port has another message than that of the interface, in a graph that nothing makes.
use streamflow::prelude::*;
use streamflow_tests::stereo::FrameSource;

graph! {
    /// A graph with ports and a type parameter.
    pub struct Part<S: FrameSource>(source: New<S>) {
        output image: Tensor<f32>;
        let source: S = source;
        source.frame >> image;
    }
}

fn main() {}
