// The output of a node is not consumed, in a graph with a parameter that another graph makes.
use streamflow::prelude::*;
use streamflow_tests::stereo::{Camera, Cast, Counter, FrameSource};

graph! {
    /// A graph with ports and a type parameter.
    pub struct Part<S: FrameSource>(source: New<S>) {
        output image: Tensor<f32>;
        let source: S = source;
        let counter: Counter = Counter::new();
        let cast: Cast = Cast::new();
        source.frame >> cast.src;
        cast.dst >> image;
    }
}

graph! {
    /// An application.
    pub struct App {
        let part: Part<Camera> = Part::new(Camera::new(10, 1));
        part.image >> _;
    }
}

fn main() {}
