// The graph contains itself, with another argument.
use streamflow::prelude::*;
use streamflow_tests::stereo::{Camera, FrameSource};

graph! {
    /// A graph with ports and a type parameter.
    pub struct Part<S: FrameSource>(source: New<S>) {
        output frame: Tensor<u8>;
        let source: S = source;
        let part: Part<Camera> = Part::new(Camera::new(10, 1));
        source.frame >> frame;
        part.frame >> _;
    }
}

fn main() {}
