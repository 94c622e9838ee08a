// Commas for semicolons, and for parentheses.
use streamflow::prelude::*;
use streamflow_tests::stereo::{Camera, Cast};

graph! {
    pub struct App {
        let camera: Camera = Camera::new(1, 1),
        let left: Cast = Cast::new();
        let right: Cast = Cast::new();

        camera.frame >> left.src, right.src;
        left.dst >> _,
        right.dst >> _,
    }
}

fn main() {}
