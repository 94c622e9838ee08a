// Two numbers of ticks for one node.
use streamflow::prelude::*;
use streamflow_tests::stereo::Camera;

graph! {
    pub struct Conditions(count: u64) {
        #[when(count(count))]
        #[when(count(3))]
        let camera: Camera = Camera::new(1, 1);

        camera.frame >> _;
    }
}

fn main() {}
