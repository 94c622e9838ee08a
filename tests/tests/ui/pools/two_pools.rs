// A node with two pools.
use streamflow::prelude::*;
use streamflow_tests::stereo::Camera;

graph! {
    pub struct Pools {
        const NEAR: CudaStreamPool = CudaStreamPool::new();
        const FAR: CudaStreamPool = CudaStreamPool::new().device(device(1));
        #[streams(NEAR)]
        #[streams(FAR)]
        let camera: Camera = Camera::new(1, 1);

        camera.frame >> _;
    }
}

fn main() {}
