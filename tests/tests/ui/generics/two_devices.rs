// Device data of a graph with a parameter leads to a node on another device.
use streamflow::prelude::*;
use streamflow_tests::stereo::{Camera, Cast, FrameSource};

graph! {
    /// A graph with ports and a type parameter.
    pub struct Part<S: FrameSource>(source: New<S>) {
        output frame: Tensor<u8>;
        let source: S = source;
        source.frame >> frame;
    }
}

graph! {
    /// An application.
    pub struct App {
        const OTHER: CudaStreamPool = CudaStreamPool::new().device(device(1));
        let part: Part<Camera> = Part::new(Camera::new(10, 1));
        #[streams(OTHER)]
        let cast: Cast = Cast::new();
        part.frame >> cast.src;
        cast.dst >> _;
    }
}

fn main() {}
