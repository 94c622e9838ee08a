// Attributes that stream pools can't have, beside one that they may have.
use streamflow::prelude::*;
use streamflow_tests::stereo::Camera;

graph! {
    pub struct App {
        #[device(1)]
        #[replay]
        #[allow(unused)]
        const GPU: CudaStreamPool = CudaStreamPool::new();
        #[copy]
        #[stream(GPU)]
        let DEPLOYED = CudaStreamPool::new();
        #[streams(GPU)]
        let left: Camera = Camera::new(1, 1);
        #[streams(DEPLOYED)]
        let right: Camera = Camera::new(1, 1);
        left.frame >> _;
        right.frame >> _;
    }
}

fn main() {}
