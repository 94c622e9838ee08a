// The pool of a graph with ports is too small for its nodes.
use streamflow::prelude::*;
use streamflow_tests::stereo::{Cast, Invert};

graph! {
    /// A graph with ports.
    pub struct Part {
        input frame: &Tensor<u8>;
        output image: Tensor<f32>;
        const POOL: CudaStreamPool = CudaStreamPool::new().max_size(1);
        #[streams(POOL)]
        let cast: Cast = Cast::new();
        #[streams(POOL)]
        let invert: Invert = Invert::new();
        frame >> cast.src;
        cast.dst >> invert.src;
        invert.dst >> image;
    }
}

fn main() {}
