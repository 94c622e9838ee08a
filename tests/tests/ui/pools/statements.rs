// Pools declared twice, without a type, without a value.
use streamflow::prelude::*;
use streamflow_tests::stereo::Camera;

graph! {
    pub struct Pools {
        const GPU: CudaStreamPool = CudaStreamPool::new();
        const GPU: CudaStreamPool = CudaStreamPool::new();
        const none: CudaStreamPool = CudaStreamPool::new();
        const NO_TYPE = CudaStreamPool::new();
        const NO_VALUE: CudaStreamPool = ;
        #[streams(GPU)]
        const ATTRIBUTE: CudaStreamPool = CudaStreamPool::new();
        #[streams(GPU)]
        let a: Camera = Camera::new(1, 1);
        a.frame >> _;
    }
}

fn main() {}
