// Conditions on ports that do not exist, one of them in `any`.
use streamflow::prelude::*;
use streamflow_tests::stereo::{Camera, Cast};

graph! {
    pub struct Conditions {
        let camera: Camera = Camera::new(1, 1);
        #[when(any(message_available(scr, 1), periodic(1s)), room(dts))]
        let cast: Cast = Cast::new();
        camera.frame >> cast.src;
        cast.dst >> _;
    }
}

fn main() {}
