// The node adopts streams, and the graph has a pool inside.
use streamflow::prelude::*;
use streamflow_tests::stereo::{Camera, Cast};

graph! {
    /// A graph with ports.
    pub struct Part {
        input frame: &Tensor<u8>;
        output image: Tensor<f32>;
        const POOL: CudaStreamPool = CudaStreamPool::new();
        #[streams(POOL)]
        let cast: Cast = Cast::new();
        frame >> cast.src;
        cast.dst >> image;
    }
}

graph! {
    /// An application.
    pub struct App {
        let camera: Camera = Camera::new(10, 1);
        #[streams(none)]
        let part: Part = Part::new();
        camera.frame >> part.frame;
        part.image >> _;
    }
}

fn main() {}
