// A condition on room that names an input.
use streamflow::prelude::*;
use streamflow_tests::stereo::{Camera, Cast};

graph! {
    pub struct Conditions {
        let camera: Camera = Camera::new(1, 1);
        #[when(room(src))]
        let cast: Cast = Cast::new();
        camera.frame >> cast.src;
        cast.dst >> _;
    }
}

fn main() {}
