// A graph with an array of ports has an interface.
use streamflow::prelude::*;
use streamflow_tests::stereo::Camera;

operator_interface! {
    /// A source of frames.
    pub trait FrameSource {
        output frame: Tensor<u8>;
    }
}

graph! {
    /// Two cameras.
    #[implements(FrameSource)]
    pub struct Cameras {
        output frame: [Tensor<u8>; 2];
        let cameras: [Camera; 2] = |_| Camera::new(70, 1);
        for i in 0..2 {
            cameras[i].frame >> frame[i];
        }
    }
}

fn main() {}
