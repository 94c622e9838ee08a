// A node that is no operator.
use streamflow::prelude::*;
use streamflow_tests::stereo::Camera;

pub struct NotOp;

graph! {
    pub struct Wrong {
        let camera: Camera = Camera::new(1, 1);
        let show: NotOp = NotOp;
        camera.frame >> show.image;
    }
}

fn main() {}
