// A constructor with too few arguments.
use streamflow::prelude::*;
use streamflow_tests::stereo::Camera;

graph! {
    pub struct Wrong {
        let camera: Camera = Camera::new(480);

        camera.frame >> _;
    }
}

fn main() {}
