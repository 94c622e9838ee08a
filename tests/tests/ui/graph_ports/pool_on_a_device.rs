// The pool of a graph with ports is on the device of the node that the graph is.
use streamflow::prelude::*;
use streamflow_tests::stereo::Cast;

graph! {
    /// A graph with ports.
    pub struct Part {
        input frame: &Tensor<u8>;
        output image: Tensor<f32>;
        const POOL: CudaStreamPool = CudaStreamPool::new().device(device(1));
        #[streams(POOL)]
        let cast: Cast = Cast::new();
        frame >> cast.src;
        cast.dst >> image;
    }
}

fn main() {}
