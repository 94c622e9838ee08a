// A condition on messages that names an output.
use streamflow::prelude::*;
use streamflow_tests::stereo::{Camera, Cast};

graph! {
    pub struct Conditions {
        let camera: Camera = Camera::new(1, 1);
        #[when(message_available(dst, 1))]
        let cast: Cast = Cast::new();
        camera.frame >> cast.src;
        cast.dst >> _;
    }
}

fn main() {}
