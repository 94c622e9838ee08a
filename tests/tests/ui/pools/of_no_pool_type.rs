// The constant that nodes use as their pool has another type.
use streamflow::prelude::*;
use streamflow_tests::stereo::Camera;

graph! {
    pub struct Pools {
        const GPU: usize = 5;
        #[streams(GPU)]
        let camera: Camera = Camera::new(1, 1);
        camera.frame >> _;
    }
}

fn main() {}
