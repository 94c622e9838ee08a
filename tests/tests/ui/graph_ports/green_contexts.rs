// The graph around this one has the green contexts.
use streamflow::prelude::*;
use streamflow::stream::CudaGreenContextPool;
use streamflow_tests::stereo::Cast;

graph! {
    /// A graph with ports.
    pub struct Part {
        input frame: &Tensor<u8>;
        output image: Tensor<f32>;
        const GREEN: CudaGreenContextPool = CudaGreenContextPool::new();
        let cast: Cast = Cast::new();
        frame >> cast.src;
        cast.dst >> image;
    }
}

fn main() {}
