use streamflow::prelude::*;
use streamflow_tests::stereo::{Camera, Cast};

graph! {
    pub struct App {
        let self: Camera = Camera::new(480, 1);
        let cast: Cast = Cast::new();
        let camera: Camera = Camera::new(480, 1);
        let super: Cast = Cast::new();

        self.frame >> cast.src;
        cast.self >> super.src;
        camera.frame >> _;
        cast.dst >> _;
    }
}

fn main() {}
