// A node with the name of a stream pool.
use streamflow::prelude::*;
use streamflow_tests::stereo::{Camera, Cast};

graph! {
    pub struct Shadows {
        const GPU: CudaStreamPool = CudaStreamPool::new();
        #[streams(GPU)]
        let GPU: Camera = Camera::new(1, 1);
        #[streams(GPU)]
        let cast: Cast = Cast::new();

        GPU.frame >> cast.src;
        cast.dst >> _;
    }
}

fn main() {}
