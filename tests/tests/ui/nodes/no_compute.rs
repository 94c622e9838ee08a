// An operator that does nothing.
use streamflow::prelude::*;
use streamflow_tests::stereo::Camera;

#[operator]
pub struct Idle {
    #[input]
    frame: &Tensor<u8>,
}

graph! {
    pub struct Wrong {
        let camera: Camera = Camera::new(1, 1);
        let idle: Idle = Idle::new();
        camera.frame >> idle.frame;
    }
}

fn main() {}
