// One condition twice.
use streamflow::operator::BooleanHandle;
use streamflow::prelude::*;
use streamflow_tests::stereo::{Camera, Cast};

graph! {
    pub struct Conditions(handle: BooleanHandle) {
        #[when(periodic(1s), any(periodic(2s), boolean(handle)))]
        let camera: Camera = Camera::new(1, 1);
        #[when(message_available(src, 1))]
        #[when(message_available(src, 2))]
        let cast: Cast = Cast::new();
        #[when(any(expiring(src, 1s), expiring(src, 2s)), room(dst), room(dst))]
        let other: Cast = Cast::new();
        #[when(boolean(handle), boolean(handle))]
        let third: Camera = Camera::new(1, 1);
        camera.frame >> (cast.src, other.src);
        cast.dst >> _;
        other.dst >> _;
        third.frame >> _;
    }
}

fn main() {}
