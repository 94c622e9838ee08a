// A condition that does not exist.
use streamflow::prelude::*;
use streamflow_tests::stereo::Camera;

graph! {
    pub struct Conditions {
        #[when(stream_ready(frame))]
        let camera: Camera = Camera::new(1, 1);

        camera.frame >> _;
    }
}

fn main() {}
