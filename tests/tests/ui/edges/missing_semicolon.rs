// Semicolons are missing; the rest is parsed.
use streamflow::prelude::*;
use streamflow_tests::stereo::{Camera, Cast};

graph! {
    pub struct Semicolons {
        let camera: Camera = Camera::new(1, 1)
        let cast: Cast = Cast::new();
        camera.frame >> cast.src
        cast.dst >> _
    }
}

fn main() {}
