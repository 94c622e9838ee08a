// A pool that no node uses.
use streamflow::prelude::*;
use streamflow_tests::stereo::Camera;

graph! {
    pub struct Pools {
        const GPU: CudaStreamPool = CudaStreamPool::new();
        let a: Camera = Camera::new(1, 1);
        a.frame >> _;
    }
}

fn main() {}
