// Two nodes of one name.
use streamflow::prelude::*;
use streamflow_tests::stereo::Camera;

graph! {
    pub struct Twice {
        let camera: Camera = Camera::new(1, 1);
        let camera: Camera = Camera::new(1, 2);
        camera.frame >> _;
    }
}

fn main() {}
