// A pool for an operator with only host data.
use streamflow::prelude::*;
use streamflow_tests::stereo::{Camera, Counter};

graph! {
    pub struct Pools {
        const GPU: CudaStreamPool = CudaStreamPool::new();
        #[streams(GPU)]
        let camera: Camera = Camera::new(1, 1);
        #[streams(GPU)]
        let counter: Counter = Counter::new();

        camera.frame >> _;
        counter.number >> _;
    }
}

fn main() {}
