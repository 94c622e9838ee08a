// An input can't be discarded.
use streamflow::prelude::*;
use streamflow_tests::stereo::{Camera, Cast};

graph! {
    pub struct Discards {
        let camera: Camera = Camera::new(1, 1);
        let cast: Cast = Cast::new();
        camera.frame >> cast.src;
        cast.dst >> _;
        cast.src >> _;
    }
}

fn main() {}
