// Discards beside consumers, and twice.
use streamflow::prelude::*;
use streamflow_tests::stereo::{Camera, Cast};

graph! {
    pub struct Discards {
        let camera: Camera = Camera::new(1, 1);
        let cast: Cast = Cast::new();
        camera.frame >> cast.src;
        camera.frame >> _;
        cast.dst >> _;
        cast.dst >> _;
    }
}

fn main() {}
