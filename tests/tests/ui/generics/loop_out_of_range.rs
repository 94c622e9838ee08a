// The loop leads to a node that is not there, for this constant parameter.
use streamflow::prelude::*;
use streamflow_tests::stereo::{Camera, FrameSource};

graph! {
    /// A graph with ports and parameters.
    pub struct Part<S: FrameSource, const N: usize>(source: fn(usize) -> New<S>) {
        output frame: Tensor<u8>;
        let sources: [S; N] = |i| source(i);
        for i in 0..N {
            sources[i + 1].frame >> _;
        }
        sources[0].frame >> frame;
    }
}

graph! {
    /// An application.
    pub struct App {
        let part: Part<Camera, 3> = Part::new(|i| Camera::new(10, i as u8));
        part.frame >> _;
    }
}

fn main() {}
