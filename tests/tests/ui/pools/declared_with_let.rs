// A pool is declared with `let`. Its uses cause no further errors.
use streamflow::prelude::*;
use streamflow_tests::stereo::Camera;

graph! {
    pub struct App {
        let GPU: CudaStreamPool = CudaStreamPool::new();
        #[streams(GPU)]
        let camera: Camera = Camera::new(1, 1);
        camera.frame >> _;
    }
}

fn main() {}
