// The mistake is in a graph with a parameter, in another graph with a parameter.
use streamflow::prelude::*;
use streamflow_tests::stereo::{Camera, FrameSource};

graph! {
    /// A graph with ports and parameters.
    pub struct Inner<S: FrameSource, const N: usize>(source: fn(usize) -> New<S>) {
        output frame: Tensor<u8>;
        let sources: [S; N] = |i| source(i);
        for i in 1..4 {
            sources[i].frame >> _;
        }
        sources[0].frame >> frame;
    }
}

graph! {
    /// A graph with ports and parameters.
    pub struct Outer<S: FrameSource, const N: usize>(source: fn(usize) -> New<S>) {
        output frame: Tensor<u8>;
        let inner: Inner<S, N> = Inner::new(source);
        inner.frame >> frame;
    }
}

graph! {
    /// An application.
    pub struct App {
        let outer: Outer<Camera, 3> = Outer::new(|i| Camera::new(10, i as u8));
        outer.frame >> _;
    }
}

fn main() {}
