// The port is that of an operator, which has no arrays of ports.
use streamflow::prelude::*;
use streamflow_tests::stereo::{Camera, Cast};

graph! {
    /// A graph of operators.
    pub struct App {
        let camera: Camera = Camera::new(70, 1);
        let cast: Cast = Cast::new();
        camera.frame >> cast.src[1];
        cast.dst >> _;
    }
}

fn main() {}
