// The operator of a node that is a graph, for this type parameter, can't be made again.
use streamflow::prelude::*;
use streamflow_tests::stereo::{Camera, FrameSource};

graph! {
    /// A graph with ports.
    #[implements(FrameSource)]
    pub struct Source {
        output frame: Tensor<u8>;
        let camera: Camera = Camera::new(10, 1);
        camera.frame >> frame;
    }
}

graph! {
    /// A graph with ports and a type parameter.
    pub struct Part<S: FrameSource>(source: fn() -> New<S>) {
        output frame: Tensor<u8>;
        #[on_failure(restart(3, 1ms))]
        let source: S = source();
        source.frame >> frame;
    }
}

graph! {
    /// An application.
    pub struct App {
        let part: Part<Source> = Part::new(|| Source::new());
        part.frame >> _;
    }
}

fn main() {}
